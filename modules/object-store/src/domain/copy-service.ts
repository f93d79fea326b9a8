import type { EventOrigin } from './ports/notifications.ts';
import { readWriteRules } from './write-rules.ts';
import type { ChecksumAlgorithm } from './checksums/algorithms.ts';
import type { ContentKey } from './encryption/content-key.ts';
import type { CustomerKey } from './encryption/key-envelope.ts';
import type { ReadRange } from './ports/blob-store.ts';
import type { FoundObject } from './ports/objects.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import type { BucketRecord, ObjectAttributes, ObjectChecksum, ObjectEncryption } from './ports/records.ts';
import type { ContentStore } from './content/content-store.ts';
import { assertRoom } from './content/content-writer.ts';
import { createStoredSource, digestStored } from './content/stored-source.ts';
import { copyPart, identityOf, type CopiedPart, type PartCopy } from './copy-part.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import type { EncryptionRequest, EncryptionService } from './encryption-service.ts';
import type { MultipartService } from './multipart-service.ts';
import type { ObjectService } from './object-service.ts';
import { assertUploadAllowed } from './settings/upload-rules.ts';
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
  content: ContentStore;
  objects: ObjectService;
  multipart: MultipartService;
  encryption: EncryptionService;
}

export function createCopyService(services: CopyDeps): CopyService {
  return {
    object: async (copy) => {
      const { source, customerKey, bucket, encryption: request } = copy;
      const { encryption } = source.version.attributes;
      const key = await services.encryption.open(encryption, customerKey);
      const shared = await services.encryption.forCopy({ encryption, customerKey }, bucket, request);
      if (shared === null) return await rewrite(services, copy, key);
      return { stored: await shareBytes(services, copy, key, shared.encryption), ...shared };
    },
    part: (copy) => copyPart(services, copy),
  };
}

async function shareBytes(
  { deps, configurations }: CopyDeps,
  { source, bucket, key, attributes, checksumAlgorithm, conditions, origin }: ObjectCopy,
  contentKey: ContentKey | null,
  encryption: ObjectEncryption | undefined,
): Promise<StoredVersion> {
  const { sizeBytes } = source.version;
  assertUploadAllowed(await configurations.of(bucket), { sizeBytes, contentType: attributes.contentType });
  await assertRoom(deps.disk, 0);
  const shared = {
    ...(await readWriteRules(configurations, deps.quotaLimits, bucket, key, origin)),
    source: identityOf(source),
    bucketId: bucket.id,
    key,
    nowMs: deps.clock.nowMs(),
    versionToken: deps.identifiers.versionToken(),
    checksum: await computeChecksum(deps, { source, sourceKey: contentKey, bucket }, checksumAlgorithm),
    conditions,
    trashDueAtMs: trashDueAt(deps),
  };
  return await writeSealed(deps.secrets, withEncryption(attributes, encryption), (sealed) =>
    deps.metadata.copyObject({ ...shared, attributes: sealed }),
  );
}

async function rewrite(services: CopyDeps, copy: ObjectCopy, sourceKey: ContentKey | null): Promise<CopiedObject> {
  const { source, bucket, key, attributes, conditions } = copy;
  const { checksum } = source.version;
  const sealed = await services.encryption.forWrite(bucket, copy.encryption);
  await using content = await services.content.store({
    source: createStoredSource(services.deps, { source, sourceKey, range: wholeRange(source) }),
    bucket,
    key: sealed?.key ?? null,
    kind: 'object',
    contentType: attributes.contentType,
    algorithm: copy.checksumAlgorithm ?? checksum?.algorithm ?? 'CRC64NVME',
  });
  const stored = await services.objects.put({
    bucket,
    key,
    content,
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

async function computeChecksum(
  deps: StoreDeps,
  { source, sourceKey, bucket }: { source: FoundObject; sourceKey: ContentKey | null; bucket: BucketRecord },
  wanted: ChecksumAlgorithm | null,
): Promise<ObjectChecksum | null> {
  const { checksum } = source.version;
  if (wanted === null || (checksum?.algorithm === wanted && checksum.type === 'FULL_OBJECT')) return checksum;
  const stored = { source, sourceKey, range: wholeRange(source), workspaceUuid: bucket.workspaceUuid };
  const digests = await digestStored(deps, stored, new Set([wanted]));
  return { algorithm: wanted, type: 'FULL_OBJECT', value: digests[wanted]?.toString('base64') ?? '' };
}

function wholeRange({ version }: FoundObject): ReadRange {
  return { start: 0, endExclusive: version.sizeBytes };
}
