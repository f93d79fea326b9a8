import { storeErrors } from '../errors.ts';
import type { NewContent } from './ports/objects.ts';
import type { ContentKey } from './encryption/content-key.ts';
import type { BucketRecord, ObjectChecksum } from './ports/records.ts';
import { ContentWriter } from './content-writer.ts';
import type { StoreServices } from './services.ts';

export interface WrittenObject {
  /** Sealed, but not committed. */
  content: NewContent;
  sizeBytes: number;
  /** Hexadecimal: the MD5 of the content, or a substitute if encryption must hide it. */
  etag: string;
  checksum: ObjectChecksum;
}

/**
 * Consumes a chunk. A returned promise applies backpressure; an exception stops reading. The consumer calls `release`
 * when it no longer needs the chunk, which may be never.
 */
export type ContentConsumer = (chunk: Buffer, release?: () => void) => Promise<unknown> | undefined;

export interface ContentSource {
  sizeBytes: number;
  bucket: BucketRecord;
  /** Null to store it unencrypted. */
  key: ContentKey | null;
  /** False for parts, which are blobs regardless of size. */
  inline: boolean;
  /** Resolves once all bytes are consumed. */
  pump: (consume: ContentConsumer) => Promise<void>;
}

/** Writes content of a known size without declared digests. A failed write leaves nothing behind. */
export async function writeContent(
  services: Pick<StoreServices, 'contentDeps' | 'deps'>,
  { sizeBytes, bucket, key, inline, pump }: ContentSource,
): Promise<WrittenObject> {
  const limitBytes = services.deps.config.limits.put_bytes;
  if (sizeBytes > limitBytes) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: limitBytes } });
  }
  const names = new Set(['MD5', 'CRC64NVME'] as const);
  const writer = await ContentWriter.open(services.contentDeps, names, sizeBytes, {
    inline,
    key,
    place: { workspaceUuid: bucket.workspaceUuid, bucketId: bucket.id },
  });
  try {
    await pump((chunk, release) => writer.write(chunk, release));
    const digests = await writer.digest();
    const value = digests.CRC64NVME?.toString('base64') ?? '';
    const md5 = digests.MD5 ?? Buffer.alloc(0);
    const etag = key === null ? md5.toString('hex') : key.entityTag(md5);
    return {
      content: await writer.seal(),
      sizeBytes,
      etag,
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value },
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
