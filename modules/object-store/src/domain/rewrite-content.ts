import { freeAfter } from '@svc/bytes';
import type { ChecksumAlgorithm } from './checksums/algorithms.ts';
import type { ContentKey } from './encryption/content-key.ts';
import { storeErrors } from '../errors.ts';
import type { BlobPlace, ReadRange } from './ports/blob-store.ts';
import type { FoundObject, NewContent } from './ports/objects.ts';
import type { ObjectChecksum } from './ports/records.ts';
import { ContentWriter, type ContentDeps } from './content-writer.ts';
import { readContent } from './read-content.ts';
import type { StoreDeps } from './store-deps.ts';

export interface ContentToRewrite {
  source: FoundObject;
  sourceKey: ContentKey | null;
  range: ReadRange;
  /** Null to store it unencrypted. */
  targetKey: ContentKey | null;
  /** Algorithm of the stored checksum. */
  algorithm: ChecksumAlgorithm;
  inline: boolean;
  /** Where the copy is stored. */
  place: BlobPlace;
}

export interface RewrittenContent {
  /** Sealed, but not committed. */
  content: NewContent;
  etag: string;
  checksum: ObjectChecksum;
}

/** Rewrites stored bytes as a new blob or inline content. Throws `EntityTooLarge` above the limit of a single write. */
export async function rewriteContent(
  { deps, contentDeps }: { deps: StoreDeps; contentDeps: ContentDeps },
  { source, sourceKey, range, targetKey, algorithm, inline, place }: ContentToRewrite,
): Promise<RewrittenContent> {
  const sizeBytes = range.endExclusive - range.start;
  const maxSizeAllowed = deps.config.limits.put_bytes;
  if (sizeBytes > maxSizeAllowed) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed } });
  }
  const names = new Set(['MD5', algorithm] as const);
  const writer = await ContentWriter.open(contentDeps, names, sizeBytes, { inline, key: targetKey, place });
  try {
    // Copy each chunk: its memory is reused while hashing and writing are still in progress.
    for await (const chunk of readContent(deps, source, range, sourceKey)) {
      const copy = Buffer.from(chunk);
      await writer.write(copy, freeAfter(copy, 1));
    }
    const digests = await writer.digest();
    const md5 = digests.MD5 ?? Buffer.alloc(0);
    const value = digests[algorithm]?.toString('base64') ?? '';
    const content = await writer.seal();
    return {
      content,
      etag: targetKey === null ? md5.toString('hex') : targetKey.entityTag(md5),
      checksum: { algorithm, type: 'FULL_OBJECT', value },
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
