import { createHash } from 'node:crypto';
import { joinedChecksum } from '../../domain/checksums/multipart-checksum.ts';
import { storeErrors } from '../../errors.ts';
import type { StoredVersion } from '../../domain/ports/records.ts';
import { lastNamed, type CompletedPart, type CompleteUpload } from '../../domain/ports/upload-commands.ts';
import type { ObjectChecksum, PartRecord, UploadRecord } from '../../domain/ports/records.ts';
import { all, claim, first, send, type Program } from '../program.ts';
import { text, textOrNull } from '../row.ts';
import { openForChange } from './fork-rows.ts';
import { bucketLock, keyLock, uploadLock } from './locks.ts';
import { visible } from './object-commands.ts';
import { toPart } from './object-queries.ts';
import { toUpload } from './upload-rows.ts';
import { newestVersion, pushVersion } from './version-rows.ts';
import { assertWriteConditions } from './write-conditions.ts';

interface StoredPart extends PartRecord {
  blobId: string;
}

/**
 * Turns an upload into an object by changing rows only: the parts' blobs stay where they are and become its manifest.
 */
export function* completeUpload(input: CompleteUpload): Program<StoredVersion> {
  yield* claim(uploadLock(input.uploadId), bucketLock(input.bucketId), keyLock(input));
  const row = yield* first(
    'select * from upload where upload_id = ? and bucket_id = ? and key = ?',
    input.uploadId,
    input.bucketId,
    input.key,
  );
  if (row === undefined) throw storeErrors.NoSuchUpload();
  const earlier = textOrNull(row, 'result');
  if (earlier !== null) return JSON.parse(earlier) as StoredVersion; // written below
  const upload = toUpload(row);
  const versioning = yield* openForChange(input, upload.attributes.encryption);
  const newest = yield* newestVersion(input.bucketId, input.key);
  assertWriteConditions(input.conditions, visible(newest));

  const stored = yield* readParts(input.uploadId);
  const parts = choose(stored, input.parts);
  const sizeBytes = assertSizes(parts, input);
  const checksum = resolveChecksum(upload, parts, input);
  const leftOut = yield* arrange(input, stored, parts);
  yield* send('update upload set completed_at_ms = ? where upload_id = ?', input.nowMs, input.uploadId);
  const etag = multipartEtag(parts);
  const versionId = yield* pushVersion(versioning, newest, {
    bucketId: input.bucketId,
    key: input.key,
    nowMs: input.nowMs,
    versionToken: input.versionToken,
    deleteMarker: false,
    sizeBytes,
    etag,
    attributes: upload.attributes,
    checksum,
    partCount: parts.length,
    location: { kind: 'manifest', manifestId: input.uploadId },
    trashDueAtMs: input.trashDueAtMs,
    eventName: 'ObjectCreated:CompleteMultipartUpload',
    notify: input.notify,
    quota: input.quota,
    upload: { sizeBytes: [...stored.values()].reduce((sum, part) => sum + part.sizeBytes, 0), leftOut },
  });
  const { encryption } = upload.attributes;
  const result: StoredVersion = {
    versionId,
    etag,
    sizeBytes,
    modifiedAtMs: input.nowMs,
    checksum,
    ...(encryption === undefined ? {} : { encryption }),
  };
  yield* send('update upload set result = ? where upload_id = ?', JSON.stringify(result), input.uploadId);
  return result;
}

function* readParts(uploadId: string): Program<ReadonlyMap<number, StoredPart>> {
  const rows = yield* all('select * from part where upload_id = ? order by part_number', uploadId);
  return new Map(
    rows.map((row) => {
      const part = { ...toPart(row), blobId: text(row, 'blob_id') };
      return [part.partNumber, part];
    }),
  );
}

/** The parts that the client named, as uploaded. If one is repeated, the last entry counts. */
function choose(stored: ReadonlyMap<number, StoredPart>, named: readonly CompletedPart[]): readonly StoredPart[] {
  let previous = 0;
  return lastNamed(named).map(({ partNumber, etag, checksum, checksumAlgorithm }) => {
    if (partNumber <= previous) throw storeErrors.InvalidPartOrder();
    previous = partNumber;
    const part = stored.get(partNumber);
    if (part === undefined || part.etag !== etag) throw storeErrors.InvalidPart({ details: { partNumber } });
    if (checksumAlgorithm !== undefined && checksumAlgorithm !== part.checksum?.algorithm) {
      const reason = `The ${checksumAlgorithm.toLowerCase()} you specified for part ${partNumber} did not match what we received.`;
      throw storeErrors.BadDigest({ details: { reason, partNumber } });
    }
    if (checksum !== undefined && checksum !== part.checksum?.value) {
      throw storeErrors.InvalidPart({ details: { partNumber } });
    }
    return part;
  });
}

function assertSizes(parts: readonly StoredPart[], input: CompleteUpload): number {
  let total = 0;
  for (const [index, part] of parts.entries()) {
    if (index < parts.length - 1 && part.sizeBytes < input.minPartBytes) {
      throw storeErrors.EntityTooSmall({
        details: { partNumber: part.partNumber, proposedSize: part.sizeBytes, minSizeAllowed: input.minPartBytes },
      });
    }
    total += part.sizeBytes;
  }
  if (total > input.maxObjectBytes) throw storeErrors.EntityTooLarge({ details: { proposedSize: total } });
  const { sizeBytes = total } = input.expected;
  if (sizeBytes !== total) {
    const reason = `The provided 'x-amz-mp-object-size' header value ${sizeBytes} does not match what was computed: ${total}`;
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  return total;
}

/** Sets the offsets of all parts in one statement. Deletes and returns the parts that the client left out. */
function* arrange(
  { uploadId }: CompleteUpload,
  stored: ReadonlyMap<number, StoredPart>,
  chosen: readonly StoredPart[],
): Program<readonly StoredPart[]> {
  const kept = new Set(chosen.map((part) => part.partNumber));
  const leftOut = [...stored.values()].filter(({ partNumber }) => !kept.has(partNumber));
  for (const { partNumber } of leftOut) {
    yield* send('delete from part where upload_id = ? and part_number = ?', uploadId, partNumber);
  }
  yield* send(
    `update part set start_offset = place.start from (
       select part_number, cast(sum(size_bytes) over (order by part_number) - size_bytes as bigint) as start
       from part where upload_id = ?) as place
     where part.upload_id = ? and part.part_number = place.part_number`,
    uploadId,
    uploadId,
  );
  return leftOut;
}

/** MD5 of the parts' MD5s, with the number of parts: the multipart ETag of every S3 implementation. */
function multipartEtag(parts: readonly StoredPart[]): string {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part.etag, 'hex');
  return `${hash.digest('hex')}-${parts.length}`;
}

function resolveChecksum(
  upload: UploadRecord,
  parts: readonly StoredPart[],
  { expected, composite }: Pick<CompleteUpload, 'expected' | 'composite'>,
): ObjectChecksum | null {
  const type = upload.checksumType ?? 'FULL_OBJECT';
  if (expected.checksumType !== undefined && expected.checksumType !== type) {
    const reason = `The upload was created using the ${type} checksum mode. The complete request must use the same checksum mode.`;
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  const checksum = type === 'COMPOSITE' ? (composite ?? null) : joinedChecksum(upload.checksumAlgorithm, parts);
  if (expected.checksum === undefined) return checksum;
  const { algorithm, value } = expected.checksum;
  // If the upload has no algorithm, checksums of other algorithms are unknown.
  if (upload.checksumAlgorithm === null && algorithm !== checksum?.algorithm) return checksum;
  // Clients send a composite value with or without the number of parts.
  if (algorithm === checksum?.algorithm && [value, `${value}-${parts.length}`].includes(checksum.value))
    return checksum;
  throw storeErrors.BadDigest({ details: { header: algorithm, with: 'the calculated checksum' } });
}
