import { afterPrefix, compareKeys } from '../../domain/key-order.ts';
import type { AgingVersion, LifecycleQueries } from '../../domain/ports/lifecycle-metadata.ts';
import type { BucketRecord, UploadRecord } from '../../domain/ports/records.ts';
import { toAttributes } from '../object-row.ts';
import { all, type Program, type Row, type SqlValue } from '../program.ts';
import { flag, integer, text } from '../row.ts';
import { toBucket } from './bucket-rows.ts';
import { toUpload } from './upload-rows.ts';

type Query<Name extends keyof LifecycleQueries> = Parameters<LifecycleQueries[Name]>[0];

export function* bucketsWithLifecycle(input: Query<'bucketsWithLifecycle'>): Program<readonly BucketRecord[]> {
  const rows = yield* all(
    `select b.* from bucket b where b.id > ? and b.state = 'active' and exists (
       select 1 from bucket_document d where d.bucket_id = b.id and d.name = 'lifecycle')
     order by b.id limit ?`,
    input.afterBucketId,
    input.limit,
  );
  return rows.map(toBucket);
}

export function* agingVersions(input: Query<'agingVersions'>): Program<readonly AgingVersion[]> {
  const { bucketId, prefix, afterKey, afterOrderKey, limit } = input;
  const select = `select key, order_key, version_id, is_latest, delete_marker, size_bytes, etag, modified_at_ms, attributes
    from object where bucket_id = ?`;
  const [start, values] = startOf(prefix, afterKey, afterOrderKey);
  const end = afterPrefix(prefix);
  const order = 'order by key, order_key limit ?';
  const rows =
    end === null
      ? yield* all(`${select} and ${start} ${order}`, bucketId, ...values, limit)
      : yield* all(`${select} and ${start} and key < ? ${order}`, bucketId, ...values, end, limit);
  return rows.map(toAgingVersion);
}

export function* uploadsBefore({ beforeMs, after, limit }: Query<'uploadsBefore'>): Program<readonly UploadRecord[]> {
  const rows = yield* all(
    `select * from upload where completed_at_ms is null and initiated_at_ms < ?
       and (initiated_at_ms, upload_id) > (?, ?) order by initiated_at_ms, upload_id limit ?`,
    beforeMs,
    after.initiatedAtMs,
    after.uploadId,
    limit,
  );
  return rows.map(toUpload);
}

function startOf(prefix: string, afterKey: string, afterOrderKey: number | null): [text: string, SqlValue[]] {
  if (afterKey === '' || compareKeys(afterKey, prefix) < 0) return ['key >= ?', [prefix]];
  if (afterOrderKey === null) return ['key > ?', [afterKey]];
  return ['(key, order_key) > (?, ?)', [afterKey, afterOrderKey]];
}

function toAgingVersion(row: Row): AgingVersion {
  return {
    key: text(row, 'key'),
    orderKey: integer(row, 'order_key'),
    versionId: text(row, 'version_id'),
    isLatest: flag(row, 'is_latest'),
    deleteMarker: flag(row, 'delete_marker'),
    sizeBytes: integer(row, 'size_bytes'),
    etag: text(row, 'etag'),
    modifiedAtMs: integer(row, 'modified_at_ms'),
    tags: toAttributes(text(row, 'attributes')).tags ?? {},
  };
}
