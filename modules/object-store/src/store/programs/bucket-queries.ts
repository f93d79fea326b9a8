import type { BucketFork } from '../../domain/ports/bucket-forks.ts';
import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type { BucketRecord, BucketUsage } from '../../domain/ports/records.ts';
import { afterPrefix } from '../../domain/key-order.ts';
import { all, first, type Program } from '../program.ts';
import { integer, integerOrNull, text } from '../row.ts';
import { toBucket } from './bucket-rows.ts';

type Input<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

export function* isProvisioned({ workspaceUuid }: Input<'isProvisioned'>): Program<boolean> {
  return (yield* first('select 1 as found from tenant where workspace_uuid = ?', workspaceUuid)) !== undefined;
}

export function* findBucket({ name }: Input<'findBucket'>): Program<BucketRecord | null> {
  const row = yield* first(`select * from bucket where name = ? and state = 'active'`, name);
  return row === undefined ? null : toBucket(row);
}

export function* findBucketById({ bucketId }: Input<'findBucketById'>): Program<BucketRecord | null> {
  const row = yield* first('select * from bucket where id = ?', bucketId);
  return row === undefined ? null : toBucket(row);
}

export function* listBuckets(input: Input<'listBuckets'>): Program<readonly (BucketRecord & BucketUsage)[]> {
  const rows = yield* all(
    `select b.*, u.object_count, u.size_bytes from bucket b join bucket_usage u on u.bucket_id = b.id
     where b.workspace_uuid = ? and b.state = 'active' and b.name > ? and b.name >= ? and b.name < ?
     order by b.name limit ?`,
    input.workspaceUuid,
    input.after,
    input.prefix,
    afterPrefix(input.prefix) ?? '\u{10ffff}',
    input.limit,
  );
  return rows.map((row) => ({
    ...toBucket(row),
    objectCount: integer(row, 'object_count'),
    sizeBytes: integer(row, 'size_bytes'),
  }));
}

export function* workspaceUsage(input: Input<'workspaceUsage'>): Program<BucketUsage & { buckets: number }> {
  const row = yield* first(
    `select count(*) as buckets, coalesce(sum(u.object_count), 0) as object_count, coalesce(sum(u.size_bytes), 0) as size_bytes
     from bucket b join bucket_usage u on u.bucket_id = b.id where b.workspace_uuid = ? and b.state = 'active'`,
    input.workspaceUuid,
  );
  if (row === undefined) return { buckets: 0, objectCount: 0, sizeBytes: 0 };
  return {
    buckets: integer(row, 'buckets'),
    objectCount: integer(row, 'object_count'),
    sizeBytes: integer(row, 'size_bytes'),
  };
}

export function* listDeletedBuckets(input: Input<'listDeletedBuckets'>): Program<readonly BucketRecord[]> {
  const rows = yield* all(
    `select * from bucket where workspace_uuid = ? and state = 'soft-deleted' and purge_at_ms > ?
     order by deleted_at_ms desc, name limit ?`,
    input.workspaceUuid,
    input.nowMs,
    input.limit,
  );
  return rows.map((row) => toBucket(row));
}

export function* bucketsToPurge(input: Input<'bucketsToPurge'>): Program<readonly number[]> {
  const rows = yield* all(
    `select id from bucket where state = 'soft-deleted' and purge_at_ms <= ? order by purge_at_ms limit ?`,
    input.nowMs,
    input.limit,
  );
  return rows.map((row) => integer(row, 'id'));
}

export function* findFork({ name, workspaceUuid }: Input<'findFork'>): Program<BucketFork | null> {
  const row = yield* first(
    `select b.*, u.object_count, u.size_bytes, f.source_id, f.source_name, f.started_at_ms, f.finished_at_ms, f.copied_count
     from bucket b join bucket_usage u on u.bucket_id = b.id join bucket_fork f on f.bucket_id = b.id
     where b.name = ? and b.workspace_uuid = ? and b.state <> 'soft-deleted'`,
    name,
    workspaceUuid,
  );
  if (row === undefined) return null;
  return {
    bucket: toBucket(row),
    sourceName: text(row, 'source_name'),
    startedAtMs: integer(row, 'started_at_ms'),
    finishedAtMs: integerOrNull(row, 'finished_at_ms'),
    objectCount: integer(row, 'object_count'),
    sizeBytes: integer(row, 'size_bytes'),
    copiedCount: integer(row, 'copied_count'),
  };
}

export function* openForks({
  limit,
}: Input<'openForks'>): Program<readonly { bucketId: number; workspaceUuid: string }[]> {
  const rows = yield* all(
    `select b.id, b.workspace_uuid from bucket_fork f join bucket b on b.id = f.bucket_id
     where f.finished_at_ms is null and b.state = 'forking' order by f.started_at_ms, b.id limit ?`,
    limit,
  );
  return rows.map((row) => ({ bucketId: integer(row, 'id'), workspaceUuid: text(row, 'workspace_uuid') }));
}
