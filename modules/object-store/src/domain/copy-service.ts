import type { EventOrigin } from './ports/notifications.ts';
import { assertSettings, readWriteRules } from './write-rules.ts';
import type { ChecksumAlgorithm } from './checksums/algorithms.ts';
import type { ContentKey } from './encryption/content-key.ts';
import type { CustomerKey } from './encryption/key-envelope.ts';
import type { FoundObject } from './ports/objects.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import type { BucketRecord, ObjectAttributes, ObjectChecksum, ObjectEncryption } from './ports/records.ts';
import { assertRoom, type ContentDeps } from './content-writer.ts';
import { copyPart, identityOf, type CopiedPart, type PartCopy } from './copy-part.ts';
import { digestContent, type ContentToDigest } from './digest-content.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import type { EncryptionRequest, EncryptionService } from './encryption-service.ts';
import type { MultipartService } from './multipart-service.ts';
import type { ObjectService } from './object-service.ts';
import { rewriteContent } from './rewrite-content.ts';
import { trashDueAt, type StoreDeps } from './store-deps.ts';
import { writeSealed } from './write-sealed.ts';

export interface ObjectCopy {
  source: FoundObject;
  /** Customer key of the source, for SSE-C. */
  customerKey: CustomerKey | null;
  bucket: BucketRecord;
  key: string;
  /** All attributes of the copy. Only the bytes are taken from the source. */
  attributes: ObjectAttributes;
  /** Null keeps the source's algorithm. */
  checksumAlgorithm: ChecksumAlgorithm | null;
  encryption: EncryptionRequest;
  /** For notifications. */
  origin?: EventOrigin;
  conditions: WriteConditions;
}

export interface CopiedObject {
  stored: StoredVersion;
  encryption: ObjectEncryption | undefined;
}

export interface CopyService {
  /**
   * Shares the source's bytes if the copy can be stored the same way, else rewrites them. Throws `OperationAborted` if
   * the source changed in the meantime; then read it again.
   */
  object(copy: ObjectCopy): Promise<CopiedObject>;
  /** Throws `OperationAborted` as above. */
  part(copy: PartCopy): Promise<CopiedPart>;
}

export interface CopyDeps {
  deps: StoreDeps;
  configurations: BucketConfigurations;
  contentDeps: ContentDeps;
  objects: ObjectService;
  multipart: MultipartService;
  encryption: EncryptionService;
}

export function createCopyService(using: CopyDeps): CopyService {
  return {
    object: async (copy) => {
      const { source, customerKey, bucket, encryption: request } = copy;
      const { encryption } = source.version.attributes;
      const key = await using.encryption.open(encryption, customerKey);
      const shared = await using.encryption.forCopy({ encryption, customerKey }, bucket, request);
      if (shared === null) return await rewrite(using, copy, key);
      return { stored: await shareBytes(using, copy, key, shared.encryption), ...shared };
    },
    part: (copy) => copyPart(using, copy),
  };
}

async function shareBytes(
  { deps, configurations }: CopyDeps,
  { source, bucket, key, attributes, checksumAlgorithm, conditions, origin }: ObjectCopy,
  contentKey: ContentKey | null,
  encryption: ObjectEncryption | undefined,
): Promise<StoredVersion> {
  const { sizeBytes } = source.version;
  await assertSettings(configurations, bucket, { sizeBytes, contentType: attributes.contentType });
  await assertRoom(deps.disk, 0);
  const shared = {
    ...(await readWriteRules(configurations, deps.quotaLimits, bucket, key, origin)),
    source: identityOf(source),
    bucketId: bucket.id,
    key,
    nowMs: deps.now(),
    versionToken: deps.identifiers.versionToken(),
    checksum: await checksumFor(
      deps,
      { source, sourceKey: contentKey, workspaceUuid: bucket.workspaceUuid },
      checksumAlgorithm,
    ),
    conditions,
    trashDueAtMs: trashDueAt(deps),
  };
  return await writeSealed(deps.secrets, withEncryption(attributes, encryption), (sealed) =>
    deps.metadata.copyObject({ ...shared, attributes: sealed }),
  );
}

async function rewrite(using: CopyDeps, copy: ObjectCopy, sourceKey: ContentKey | null): Promise<CopiedObject> {
  const { source, bucket, key, attributes, conditions } = copy;
  const { sizeBytes, checksum } = source.version;
  const sealed = await using.encryption.forWrite(bucket, copy.encryption);
  const written = await rewriteContent(using, {
    source,
    sourceKey,
    range: { start: 0, endExclusive: sizeBytes },
    targetKey: sealed?.key ?? null,
    algorithm: copy.checksumAlgorithm ?? checksum?.algorithm ?? 'CRC64NVME',
    inline: true,
    place: { workspaceUuid: bucket.workspaceUuid, bucketId: bucket.id },
  });
  const stored = await using.objects.put({
    ...written,
    bucket,
    key,
    sizeBytes,
    attributes: withEncryption(attributes, sealed?.encryption),
    conditions,
    eventName: 'ObjectCreated:Copy',
    ...(copy.origin === undefined ? {} : { origin: copy.origin }),
  });
  return { stored, encryption: sealed?.encryption };
}

function withEncryption(attributes: ObjectAttributes, encryption: ObjectEncryption | undefined): ObjectAttributes {
  return encryption === undefined ? attributes : { ...attributes, encryption };
}

async function checksumFor(
  deps: StoreDeps,
  content: Omit<ContentToDigest, 'range'>,
  wanted: ChecksumAlgorithm | null,
): Promise<ObjectChecksum | null> {
  const { checksum, sizeBytes } = content.source.version;
  if (wanted === null || (checksum?.algorithm === wanted && checksum.type === 'FULL_OBJECT')) return checksum;
  const range = { start: 0, endExclusive: sizeBytes };
  const digests = await digestContent(deps, { ...content, range }, new Set([wanted]));
  return { algorithm: wanted, type: 'FULL_OBJECT', value: digests[wanted]?.toString('base64') ?? '' };
}
