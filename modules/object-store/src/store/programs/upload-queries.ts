import { commonPrefixOf, compareKeys } from '../../domain/key-order.ts';
import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type { UploadPage } from '../../domain/ports/upload-queries.ts';
import type { PartRecord, UploadRecord } from '../../domain/ports/records.ts';
import { all, first, type Program } from '../program.ts';
import { integerOrNull } from '../row.ts';
import { openUpload } from './upload-commands.ts';
import { toPart } from './object-queries.ts';
import { toUpload } from './upload-rows.ts';

type Input<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

const BATCH = 256;

export function* findUpload(input: Input<'findUpload'>): Program<UploadRecord | null> {
  const row = yield* openUpload(input);
  return row === undefined ? null : toUpload(row);
}

export function* findUploadById(
  input: Input<'findUploadById'>,
): Program<(UploadRecord & { completed: boolean }) | null> {
  const row = yield* first(
    'select * from upload where upload_id = ? and bucket_id = ?',
    input.uploadId,
    input.bucketId,
  );
  return row === undefined ? null : { ...toUpload(row), completed: integerOrNull(row, 'completed_at_ms') !== null };
}

export function* listParts(input: Input<'listParts'>): Program<readonly PartRecord[]> {
  const rows = yield* all(
    `select part_number, size_bytes, etag, checksum, modified_at_ms from part
     where upload_id = ? and part_number > ? order by part_number limit ?`,
    input.uploadId,
    input.afterPartNumber,
    input.limit,
  );
  return rows.map((row) => toPart(row));
}

/**
 * Lists open uploads by key, then age. There are few uploads compared to objects, so common prefixes are grouped row by
 * row.
 */
export function* listUploads(input: Input<'listUploads'>): Program<UploadPage> {
  const uploads: UploadRecord[] = [];
  const commonPrefixes: string[] = [];
  let [key, uploadId] = startOf(input);
  let nextKey: string | null = null;
  let nextUploadId: string | null = null;
  for (;;) {
    const rows = yield* all(
      `select * from upload where bucket_id = ? and completed_at_ms is null and (key, upload_id) > (?, ?)
       order by key, upload_id limit ?`,
      input.bucketId,
      key,
      uploadId,
      BATCH,
    );
    for (const upload of rows.map((row) => toUpload(row))) {
      [key, uploadId] = [upload.key, upload.uploadId];
      if (!key.startsWith(input.prefix)) {
        return { uploads, commonPrefixes, truncated: false, nextKey: null, nextUploadId: null };
      }
      const common = commonPrefixOf(key, input.prefix, input.delimiter);
      const seen = common !== null && (common === commonPrefixes.at(-1) || compareKeys(common, input.afterKey) <= 0);
      if (seen) continue;
      if (uploads.length + commonPrefixes.length >= input.limit) {
        return { uploads, commonPrefixes, truncated: true, nextKey, nextUploadId };
      }
      if (common === null) uploads.push(upload);
      else commonPrefixes.push(common);
      [nextKey, nextUploadId] = [common ?? key, common === null ? uploadId : ''];
    }
    if (rows.length < BATCH) return { uploads, commonPrefixes, truncated: false, nextKey: null, nextUploadId: null };
  }
}

/** Starts at the prefix or after the marker. A marker without an upload id is after all uploads of its key. */
function startOf({ prefix, afterKey, afterUploadId }: Input<'listUploads'>): [key: string, uploadId: string] {
  if (afterKey === '' || compareKeys(afterKey, prefix) < 0) return [prefix, ''];
  return [afterKey, afterUploadId === '' ? '\u{10ffff}' : afterUploadId];
}
