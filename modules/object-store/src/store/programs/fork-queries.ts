import type { BucketFork } from '../../domain/ports/bucket-forks.ts';
import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import { all, first, type Program } from '../program.ts';
import { integer, integerOrNull, text } from '../row.ts';
import { toBucket } from './bucket-rows.ts';

type Query<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

export function* findFork({ name, workspaceUuid }: Query<'findFork'>): Program<BucketFork | null> {
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
}: Query<'openForks'>): Program<readonly { bucketId: number; workspaceUuid: string }[]> {
  const rows = yield* all(
    `select b.id, b.workspace_uuid from bucket_fork f join bucket b on b.id = f.bucket_id
     where f.finished_at_ms is null and b.state = 'forking' order by f.started_at_ms, b.id limit ?`,
    limit,
  );
  return rows.map((row) => ({ bucketId: integer(row, 'id'), workspaceUuid: text(row, 'workspace_uuid') }));
}
