import { storeErrors } from '../errors.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import { lastNamed, type CompletedPart, type CompleteUpload, type ExpectedObject } from './ports/upload-commands.ts';
import type { UploadPage } from './ports/upload-queries.ts';
import type { SourceVersion } from './ports/copy-commands.ts';
import type { ChecksumAlgorithm, ChecksumType } from './checksums/algorithms.ts';
import type { HashKernels } from './checksums/hasher.ts';
import { compositeChecksum } from './checksums/multipart-checksum.ts';
import type { BucketRecord, ObjectAttributes, ObjectChecksum, PartRecord, UploadRecord } from './ports/records.ts';
import type { EventOrigin } from './ports/notifications.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import { assertRoom } from './content/content-writer.ts';
import type { PendingContent } from './content/pending-content.ts';
import { assertUploadAllowed, maxObjectBytes } from './settings/upload-rules.ts';
import { trashDueAt, type StoreDeps } from './store-deps.ts';
import { readWriteRules } from './write-rules.ts';
import { writeSealed } from './write-sealed.ts';

const PART_PAGE = 1_000;

export interface UploadName {
  bucket: BucketRecord;
  key: string;
  uploadId: string;
}

export interface NewUpload {
  bucket: BucketRecord;
  key: string;
  initiator: string;
  attributes: ObjectAttributes;
  checksumAlgorithm: ChecksumAlgorithm | null;
  checksumType: ChecksumType | null;
}

export interface NewPart extends UploadName {
  partNumber: number;
  /** Its bytes are removed if the commit is refused. */
  content: PendingContent;
}

export interface NewPartReference extends UploadName {
  partNumber: number;
  sizeBytes: number;
  etag: string;
  checksum: ObjectChecksum | null;
  blobId: string;
  blobOffset: number;
  source: SourceVersion;
}

export interface Completion extends UploadName {
  parts: readonly CompletedPart[];
  expected?: ExpectedObject;
  conditions?: WriteConditions;
  /** For notifications. */
  origin?: EventOrigin;
}

export interface UploadPageQuery {
  prefix: string;
  delimiter: string;
  afterKey: string;
  afterUploadId: string;
  limit: number;
}

export interface MultipartService {
  create(upload: NewUpload): Promise<string>;
  /** Throws `NoSuchUpload`. */
  get(name: UploadName): Promise<UploadRecord>;
  putPart(part: NewPart): Promise<void>;
  /** Adds a part that is a range of stored content. */
  putPartReference(part: NewPartReference): Promise<void>;
  complete(completion: Completion): Promise<StoredVersion>;
  abort(name: UploadName): Promise<void>;
  listParts(name: UploadName, page: { after: number; limit: number }): Promise<readonly PartRecord[]>;
  listUploads(bucket: BucketRecord, page: UploadPageQuery): Promise<UploadPage>;
}

export function createMultipartService(deps: StoreDeps, configurations: BucketConfigurations): MultipartService {
  const { metadata, identifiers, config, hashing, clock } = deps;
  const get = async ({ bucket, key, uploadId }: UploadName): Promise<UploadRecord> => {
    const upload = await metadata.findUpload({ uploadId, bucketId: bucket.id, key });
    if (upload === null) throw storeErrors.NoSuchUpload({ details: { uploadId } });
    return upload;
  };
  return {
    get,
    create: async ({ bucket, ...upload }) => {
      assertUploadAllowed(await configurations.of(bucket), { contentType: upload.attributes.contentType });
      await assertRoom(deps.disk, 0);
      const nowMs = clock.nowMs();
      const uploadId = identifiers.uploadId(nowMs);
      const { quota } = await readWriteRules(configurations, deps.quotaLimits, bucket, upload.key);
      const created = { ...upload, quota, uploadId, bucketId: bucket.id, nowMs };
      await writeSealed(deps.secrets, upload.attributes, (attributes) =>
        metadata.createUpload({ ...created, attributes }),
      );
      return uploadId;
    },
    putPart: ({ bucket, content: pending, ...part }) =>
      pending.commit(async (content) => {
        if (content.kind !== 'blob') throw new Error('a part is a blob, however small');
        const { blobId, crc64nvme, storedBytes } = content;
        const { quota } = await readWriteRules(configurations, deps.quotaLimits, bucket, part.key);
        await metadata.putPart({
          ...part,
          quota,
          blobId,
          sizeBytes: pending.sizeBytes,
          etag: pending.etag,
          checksum: pending.checksum,
          ...(crc64nvme === undefined ? {} : { crc64nvme }),
          ...(storedBytes === undefined ? {} : { storedBytes }),
          bucketId: bucket.id,
          nowMs: clock.nowMs(),
          trashDueAtMs: trashDueAt(deps),
        });
      }),
    putPartReference: async ({ bucket, blobOffset, source, ...part }) => {
      assertUploadAllowed(await configurations.of(bucket), { sizeBytes: part.sizeBytes });
      await assertRoom(deps.disk, 0);
      const { quota } = await readWriteRules(configurations, deps.quotaLimits, bucket, part.key);
      await metadata.putPart({
        ...part,
        quota,
        copied: { blobOffset, source },
        bucketId: bucket.id,
        nowMs: clock.nowMs(),
        trashDueAtMs: trashDueAt(deps),
      });
    },
    complete: async ({ bucket, conditions = {}, expected = {}, origin, parts: named, ...completion }) => {
      const chosen = await withChecksums(metadata, { bucket, ...completion }, named);
      return await metadata.completeUpload({
        ...completion,
        parts: chosen,
        ...(await readWriteRules(configurations, deps.quotaLimits, bucket, completion.key, origin)),
        ...(await computeComposite(hashing.kernels, chosen)),
        conditions,
        expected,
        bucketId: bucket.id,
        nowMs: clock.nowMs(),
        versionToken: identifiers.versionToken(),
        minPartBytes: config.limits.part_min_bytes,
        maxObjectBytes: maxObjectBytes(await configurations.of(bucket), config.limits.object_bytes),
        trashDueAtMs: trashDueAt(deps),
      });
    },
    abort: ({ bucket, key, uploadId }) =>
      metadata.abortUpload({ bucketId: bucket.id, key, uploadId, trashDueAtMs: trashDueAt(deps) }),
    listParts: async (name, { after, limit }) => {
      await get(name);
      return await metadata.listParts({ uploadId: name.uploadId, afterPartNumber: after, limit });
    },
    listUploads: (bucket, page) => metadata.listUploads({ bucketId: bucket.id, ...page }),
  };
}

/**
 * An upload with a composite checksum needs the checksum of each part. If the client does not repeat them, the stored
 * ones are used, and verified against the parts again on completion.
 */
async function withChecksums(
  metadata: StoreDeps['metadata'],
  { bucket, key, uploadId }: UploadName,
  named: readonly CompletedPart[],
): Promise<readonly CompletedPart[]> {
  if (named.every(({ checksum }) => checksum !== undefined)) return named;
  const upload = await metadata.findUpload({ uploadId, bucketId: bucket.id, key });
  if (upload?.checksumType !== 'COMPOSITE') return named;
  const stored = new Map<number, ObjectChecksum>();
  for (let afterPartNumber = 0; ;) {
    const page = await metadata.listParts({ uploadId, afterPartNumber, limit: PART_PAGE });
    for (const { partNumber, checksum } of page) if (checksum !== null) stored.set(partNumber, checksum);
    const last = page.at(-1);
    if (last === undefined || page.length < PART_PAGE) break;
    afterPartNumber = last.partNumber;
  }
  return named.map((part) => {
    const checksum = part.checksum === undefined ? stored.get(part.partNumber) : undefined;
    return checksum === undefined ? part : { ...part, checksum: checksum.value, checksumAlgorithm: checksum.algorithm };
  });
}

/** Computed from the checksums that the client confirmed, each of which the store verifies against its own. */
async function computeComposite(
  kernels: HashKernels,
  named: readonly CompletedPart[],
): Promise<Pick<CompleteUpload, 'composite'>> {
  const parts = lastNamed(named);
  const [first] = parts;
  if (first?.checksumAlgorithm === undefined) return {};
  const values = parts.flatMap(({ checksum }) => checksum ?? []);
  if (values.length !== parts.length) return {};
  await kernels.prepare([first.checksumAlgorithm]);
  return { composite: compositeChecksum(kernels, first.checksumAlgorithm, values) };
}
