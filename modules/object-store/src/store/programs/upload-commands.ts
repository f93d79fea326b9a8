import { storeErrors } from '../../errors.ts';
import type { AbortUpload, CreateUpload, PutPart } from '../../domain/ports/upload-commands.ts';
import { fromChecksum } from '../object-row.ts';
import { claim, first, send, type Program, type Row } from '../program.ts';
import { integer, text } from '../row.ts';
import { recordBlob } from './blob-programs.ts';
import { addUsage, openBucket } from './bucket-rows.ts';
import { unchangedSource } from './copy-commands.ts';
import { bucketLock, keyLock, uploadLock } from './locks.ts';
import { assertPartFits, assertQuota, usageUnder } from './quota-rows.ts';
import { releaseBlob, trashUpload } from './trash-rows.ts';

export function* createUpload(input: CreateUpload): Program<void> {
  yield* claim(bucketLock(input.bucketId));
  yield* openBucket(input.bucketId, input.attributes.encryption);
  const before = yield* usageUnder(input.quota, input.bucketId);
  yield* send(
    `insert into upload (upload_id, bucket_id, key, initiated_at_ms, initiator, attributes, checksum_algorithm, checksum_type)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    input.uploadId,
    input.bucketId,
    input.key,
    input.nowMs,
    input.initiator,
    JSON.stringify(input.attributes),
    input.checksumAlgorithm,
    input.checksumType,
  );
  yield* addUsage(input.bucketId, { uploads: 1 });
  yield* assertQuota(input.quota, input.bucketId, before);
}

export function* putPart(input: PutPart): Program<void> {
  const { copied } = input;
  yield* claim(uploadLock(input.uploadId), ...(copied === undefined ? [] : [keyLock(copied.source)]));
  if ((yield* openUpload(input)) === undefined) throw storeErrors.NoSuchUpload();
  if (copied !== undefined) yield* unchangedSource(copied.source);
  const old = yield* first(
    'select blob_id, size_bytes from part where upload_id = ? and part_number = ?',
    input.uploadId,
    input.partNumber,
  );
  const replacedBytes = old === undefined ? 0 : integer(old, 'size_bytes');
  const before = yield* usageUnder(input.quota, input.bucketId);
  assertPartFits(input.quota, before, input.sizeBytes);
  yield* send(
    `insert into part (upload_id, part_number, blob_id, blob_offset, size_bytes, etag, checksum, modified_at_ms)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (upload_id, part_number) do update set blob_id = excluded.blob_id,
       blob_offset = excluded.blob_offset, size_bytes = excluded.size_bytes,
       etag = excluded.etag, checksum = excluded.checksum, modified_at_ms = excluded.modified_at_ms`,
    input.uploadId,
    input.partNumber,
    input.blobId,
    copied?.blobOffset ?? 0,
    input.sizeBytes,
    input.etag,
    fromChecksum(input.checksum),
    input.nowMs,
  );
  if (copied === undefined) yield* recordBlob(input, input.storedBytes ?? input.sizeBytes, input.nowMs);
  if (old !== undefined) {
    const { bucketId, trashDueAtMs: dueAtMs } = input;
    yield* releaseBlob(text(old, 'blob_id'), { bucketId, sizeBytes: replacedBytes, dueAtMs });
  }
  yield* addUsage(input.bucketId, { uploadBytes: input.sizeBytes - replacedBytes });
  yield* assertQuota(input.quota, input.bucketId, before);
}

export function* abortUpload(input: AbortUpload): Program<void> {
  yield* claim(uploadLock(input.uploadId));
  if ((yield* openUpload(input)) === undefined) throw storeErrors.NoSuchUpload();
  yield* trashUpload(input.uploadId, input.bucketId, input.trashDueAtMs);
}

/** The upload if it can still take parts. An upload of another bucket or key counts as missing. */
export function* openUpload(input: { uploadId: string; bucketId: number; key: string }): Program<Row | undefined> {
  return yield* first(
    'select * from upload where upload_id = ? and bucket_id = ? and key = ? and completed_at_ms is null',
    input.uploadId,
    input.bucketId,
    input.key,
  );
}
