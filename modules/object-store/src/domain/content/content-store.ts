import { storeErrors } from '../../errors.ts';
import type { UploadAdmission } from '../admission.ts';
import type { BucketConfigurations } from '../bucket-configurations.ts';
import type { ChecksumAlgorithm, DigestName } from '../checksums/algorithms.ts';
import type { ContentKey } from '../encryption/content-key.ts';
import type { BucketRecord } from '../ports/records.ts';
import { assertUploadAllowed } from '../settings/upload-rules.ts';
import type { ContentSource } from './content-source.ts';
import { ContentWriter, type ContentWriterDeps } from './content-writer.ts';
import { PendingContent, type PendingContentDeps } from './pending-content.ts';

/** Content to store: where its bytes come from, and what applies to them. */
export interface ContentInput {
  source: ContentSource;
  /** Its settings limit the content. */
  bucket: BucketRecord;
  /** Null to store the content unencrypted. */
  key: ContentKey | null;
  /** Small objects are stored inline with their row; a part is always a blob. */
  kind: 'object' | 'part';
  /** Checked against the types that the bucket allows. A part has none: its upload was checked. */
  contentType?: string;
  /** Algorithm of the stored checksum. Defaults to the sender's, else CRC64NVME. */
  algorithm?: ChecksumAlgorithm;
}

/** The only way for bytes to become an object or a part, whatever they come from. */
export interface ContentStore {
  /**
   * Checks the limits, then receives, hashes, verifies, encrypts and stores the bytes. A failure leaves nothing behind.
   * Throws `EntityTooLarge`, `InvalidRequest` for a forbidden type, `SlowDown`, `InsufficientStorage`, `IncompleteBody`
   * and the errors of the source.
   */
  store(input: ContentInput): Promise<PendingContent>;
}

export interface ContentStoreDeps extends ContentWriterDeps, PendingContentDeps {
  configurations: BucketConfigurations;
  admission: UploadAdmission;
  /** Limit for a single write. */
  maxBytes: number;
}

export function createContentStore(deps: ContentStoreDeps): ContentStore {
  return {
    store: async (input) => {
      const { source, bucket, contentType } = input;
      const { sizeBytes } = source;
      if (sizeBytes > deps.maxBytes) {
        throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: deps.maxBytes } });
      }
      assertUploadAllowed(await deps.configurations.of(bucket), { sizeBytes, contentType });
      const leave = source.isUpload === true ? await deps.admission.enter(bucket.workspaceUuid) : null;
      try {
        return await write(deps, input);
      } finally {
        leave?.();
      }
    },
  };
}

async function write(deps: ContentStoreDeps, input: ContentInput): Promise<PendingContent> {
  const { source, bucket, key, kind } = input;
  const { sizeBytes, declared } = source;
  const algorithm = input.algorithm ?? source.algorithm ?? 'CRC64NVME';
  const names = new Set<DigestName>(declared?.names).add('MD5').add(algorithm);
  const place = { workspaceUuid: bucket.workspaceUuid, bucketId: bucket.id };
  const writer = await ContentWriter.open(deps, names, sizeBytes, { inline: kind === 'object', key, place });
  try {
    await source.pump((chunk, release) => writer.write(chunk, release));
    const digests = await writer.digest();
    declared?.verify(digests);
    const md5 = digests.MD5 ?? Buffer.alloc(0);
    const etag = key === null ? md5.toString('hex') : key.entityTag(md5);
    const value = digests[algorithm]?.toString('base64') ?? '';
    const checksum = { algorithm, type: 'FULL_OBJECT', value } as const;
    return new PendingContent(deps, await writer.seal(), { sizeBytes, etag, checksum });
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
