import type {
  Traffic,
  UsageHistoryCommands,
  UsageHistoryQueries,
  UsagePoint,
} from '../../domain/ports/usage-history.ts';
import { all, change, type Program, type Row, type SqlValue } from '../program.ts';
import { integer, text } from '../row.ts';

type Command<Name extends keyof UsageHistoryCommands> = Parameters<UsageHistoryCommands[Name]>[0];
type Query<Name extends keyof UsageHistoryQueries> = Parameters<UsageHistoryQueries[Name]>[0];

/** Stands for the bucket in a workspace's rows. No bucket has this id. */
const WHOLE_WORKSPACE = 0;

const NO_TRAFFIC: readonly number[] = [0, 0, 0];

/** The casts are needed because PostgreSQL treats parameters in a select list as text. */
const PERIOD = 'cast(? as text), cast(? as bigint)';
const TRAFFIC = 'cast(? as bigint), cast(? as bigint), cast(? as bigint)';
const INSERT = `insert into usage_history (bucket_id, workspace_uuid, resolution, period_start_ms, object_count, size_bytes,
  request_count, bytes_in, bytes_out)`;
const OF_BUCKETS = `select b.id, b.workspace_uuid, ${PERIOD}, u.object_count, u.size_bytes, ${TRAFFIC}
  from bucket b join bucket_usage u on u.bucket_id = b.id`;
const OF_WORKSPACES = `select ${WHOLE_WORKSPACE}, t.workspace_uuid, ${PERIOD}, cast(coalesce(sum(u.object_count), 0) as bigint),
    cast(coalesce(sum(u.size_bytes), 0) as bigint), ${TRAFFIC}
  from tenant t left join bucket b on b.workspace_uuid = t.workspace_uuid and b.state = 'active'
    left join bucket_usage u on u.bucket_id = b.id`;
const KNOWN = 'on conflict (bucket_id, workspace_uuid, resolution, period_start_ms) do update';
/** Writes nothing for an unchanged bucket. */
const SET_STORED = `${KNOWN} set object_count = excluded.object_count, size_bytes = excluded.size_bytes
  where usage_history.object_count <> excluded.object_count or usage_history.size_bytes <> excluded.size_bytes`;
const ADD_TRAFFIC = `${KNOWN} set request_count = usage_history.request_count + excluded.request_count,
  bytes_in = usage_history.bytes_in + excluded.bytes_in, bytes_out = usage_history.bytes_out + excluded.bytes_out`;

export function* noteBucketUsage(input: Command<'noteBucketUsage'>): Program<number | null> {
  const rows = yield* all(
    `select id from bucket where id > ? and state = 'active' order by id limit ?`,
    input.afterBucketId,
    input.limit,
  );
  const last = rows.at(-1);
  if (last === undefined) return null;
  const through = integer(last, 'id');
  for (const period of periodsOf(input)) {
    yield* change(
      `${INSERT} ${OF_BUCKETS} where b.id > ? and b.id <= ? and b.state = 'active' order by b.id ${SET_STORED}`,
      ...period,
      ...NO_TRAFFIC,
      input.afterBucketId,
      through,
    );
  }
  return through;
}

export function* noteWorkspaceUsage(input: Command<'noteWorkspaceUsage'>): Program<string | null> {
  const rows = yield* all(
    'select workspace_uuid from tenant where workspace_uuid > ? order by workspace_uuid limit ?',
    input.afterWorkspace,
    input.limit,
  );
  const last = rows.at(-1);
  if (last === undefined) return null;
  const through = text(last, 'workspace_uuid');
  for (const period of periodsOf(input)) {
    yield* change(
      `${INSERT} ${OF_WORKSPACES} where t.workspace_uuid > ? and t.workspace_uuid <= ? group by t.workspace_uuid ${SET_STORED}`,
      ...period,
      ...NO_TRAFFIC,
      input.afterWorkspace,
      through,
    );
  }
  return through;
}

export function* addTraffic({ traffic, ...periods }: Command<'addTraffic'>): Program<void> {
  const workspaces = new Map<string, Traffic>();
  // Writes in a fixed order, so that replicas that write the same rows do not deadlock.
  for (const each of traffic.toSorted((one, other) => one.bucketId - other.bucketId)) {
    workspaces.set(each.workspaceUuid, together(workspaces.get(each.workspaceUuid), each));
    for (const period of periodsOf(periods)) {
      yield* change(`${INSERT} ${OF_BUCKETS} where b.id = ? ${ADD_TRAFFIC}`, ...period, ...counts(each), each.bucketId);
    }
  }
  for (const workspaceUuid of [...workspaces.keys()].toSorted()) {
    const total = workspaces.get(workspaceUuid);
    if (total === undefined) continue;
    for (const period of periodsOf(periods)) {
      yield* change(
        `${INSERT} ${OF_WORKSPACES} where t.workspace_uuid = ? group by t.workspace_uuid ${ADD_TRAFFIC}`,
        ...period,
        ...counts(total),
        workspaceUuid,
      );
    }
  }
}

export function* forgetUsage({ resolution, beforeMs, limit }: Command<'forgetUsage'>): Program<number> {
  const rows = yield* change(
    `delete from usage_history where (bucket_id, workspace_uuid, resolution, period_start_ms) in (
       select bucket_id, workspace_uuid, resolution, period_start_ms from usage_history
       where resolution = ? and period_start_ms < ? limit ?)
     returning bucket_id`,
    resolution,
    beforeMs,
    limit,
  );
  return rows.length;
}

export function* usageHistory(input: Query<'usageHistory'>): Program<readonly UsagePoint[]> {
  const rows = yield* all(
    `select * from usage_history where bucket_id = ? and workspace_uuid = ? and resolution = ?
       and period_start_ms >= ? and period_start_ms < ? order by period_start_ms limit ?`,
    input.bucketId ?? WHOLE_WORKSPACE,
    input.workspaceUuid,
    input.resolution,
    input.fromMs,
    input.toMs,
    input.limit,
  );
  return rows.map(toPoint);
}

function periodsOf({ hourMs, dayMs }: { hourMs: number; dayMs: number }): readonly (readonly SqlValue[])[] {
  return [
    ['hour', hourMs],
    ['day', dayMs],
  ];
}

function counts({ requestCount, bytesIn, bytesOut }: Traffic): SqlValue[] {
  return [requestCount, bytesIn, bytesOut];
}

function together(sum: Traffic | undefined, one: Traffic): Traffic {
  if (sum === undefined) return one;
  return {
    ...sum,
    requestCount: sum.requestCount + one.requestCount,
    bytesIn: sum.bytesIn + one.bytesIn,
    bytesOut: sum.bytesOut + one.bytesOut,
  };
}

function toPoint(row: Row): UsagePoint {
  return {
    periodStartMs: integer(row, 'period_start_ms'),
    objectCount: integer(row, 'object_count'),
    sizeBytes: integer(row, 'size_bytes'),
    requestCount: integer(row, 'request_count'),
    bytesIn: integer(row, 'bytes_in'),
    bytesOut: integer(row, 'bytes_out'),
  };
}
