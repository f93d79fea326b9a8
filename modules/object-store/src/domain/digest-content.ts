import type { DigestName, DigestResults } from './checksums/algorithms.ts';
import type { ContentKey } from './encryption/content-key.ts';
import { createBodyHasher } from './checksums/body-hasher.ts';
import { storeErrors } from '../errors.ts';
import type { ReadRange } from './ports/blob-store.ts';
import type { FoundObject } from './ports/metadata-store.ts';
import { readContent } from './read-content.ts';
import type { StoreParts } from './store-parts.ts';

export interface StoredContent {
  source: FoundObject;
  sourceKey: ContentKey | null;
  range: ReadRange;
}

export interface ContentToDigest extends StoredContent {
  /** Who asks: its turns are taken. */
  workspaceUuid: string;
}

/** Digests of stored bytes that nothing knows yet; they are read, but not written again. */
export async function digestContent(
  parts: StoreParts,
  { source, sourceKey, range, workspaceUuid }: ContentToDigest,
  names: ReadonlySet<DigestName>,
): Promise<DigestResults> {
  const sizeBytes = range.endExclusive - range.start;
  await parts.hashing.kernels.prepare(names);
  const hasher = createBodyHasher(parts.hashing, names, sizeBytes, workspaceUuid);
  let seen = 0;
  try {
    for await (const chunk of readContent(parts, source, range, sourceKey)) {
      seen += chunk.length;
      await hasher.update(Buffer.from(chunk)); // a copy: the chunk's memory is used again, and hashing is not at once
    }
    if (seen !== sizeBytes) throw storeErrors.DataLost();
    return await hasher.finish();
  } catch (error) {
    hasher.cancel();
    throw error;
  }
}
