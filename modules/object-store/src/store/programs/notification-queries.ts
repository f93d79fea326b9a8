import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import type {
  DeliveryState,
  DueNotification,
  FailedNotification,
  StoredEvent,
  WaitingDestination,
} from '../../domain/ports/notifications.ts';
import { all, first, type Program, type Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';

type Query<Name extends keyof MetadataQueries> = Parameters<MetadataQueries[Name]>[0];

/**
 * Skips from one destination to the next in the index: the cost depends on the number of destinations, not of events.
 */
export function* waitingDestinations(input: Query<'waitingDestinations'>): Program<readonly WaitingDestination[]> {
  const found: WaitingDestination[] = [];
  let { bucketId, destination } = input.after ?? { bucketId: -1, destination: '' };
  while (found.length < input.limit) {
    const row = yield* first(
      `select bucket_id, destination,
         coalesce((select b.workspace_uuid from bucket b where b.id = n.bucket_id), '') as workspace_uuid
       from notification n where failed_at_ms is null and (bucket_id, destination) > (?, ?)
       order by bucket_id, destination limit 1`,
      bucketId,
      destination,
    );
    if (row === undefined) break;
    bucketId = integer(row, 'bucket_id');
    destination = text(row, 'destination');
    found.push({ bucketId, destination, workspaceUuid: text(row, 'workspace_uuid') });
  }
  return found;
}

export function* dueNotifications(input: Query<'dueNotifications'>): Program<readonly DueNotification[]> {
  const rows = yield* all(
    `select * from notification n where n.bucket_id = ? and n.destination = ? and n.failed_at_ms is null
       and n.next_attempt_at_ms <= ? and not exists (
         select 1 from notification e where e.bucket_id = n.bucket_id and e.destination = n.destination
           and e.key = n.key and e.id < n.id and e.failed_at_ms is null and e.next_attempt_at_ms > ?)
     order by n.id limit ?`,
    input.bucketId,
    input.destination,
    input.nowMs,
    input.nowMs,
    input.limit,
  );
  return rows.map(toDue);
}

export function* deliveryState({ bucketId, countLimit }: Query<'deliveryState'>): Program<DeliveryState> {
  const waiting = yield* first(
    `select count(*) as waiting from (
       select id from notification where bucket_id = ? and failed_at_ms is null limit ?) as counted`,
    bucketId,
    countLimit,
  );
  const failed = yield* first(
    `select count(*) as failed from (
       select id from notification where bucket_id = ? and failed_at_ms is not null limit ?) as counted`,
    bucketId,
    countLimit,
  );
  const oldest = yield* first(
    `select created_at_ms, last_error, next_attempt_at_ms from notification where bucket_id = ? and failed_at_ms is null
     order by bucket_id, destination, id limit 1`,
    bucketId,
  );
  return {
    waiting: waiting === undefined ? 0 : integer(waiting, 'waiting'),
    nextAttemptAtMs: oldest === undefined ? null : integer(oldest, 'next_attempt_at_ms'),
    oldestWaitingAtMs: oldest === undefined ? null : integer(oldest, 'created_at_ms'),
    lastError: oldest === undefined ? null : textOrNull(oldest, 'last_error'),
    failed: failed === undefined ? 0 : integer(failed, 'failed'),
  };
}

export function* failedNotifications(input: Query<'failedNotifications'>): Program<readonly FailedNotification[]> {
  const rows = yield* all(
    'select * from notification where bucket_id = ? and failed_at_ms is not null order by id desc limit ?',
    input.bucketId,
    input.limit,
  );
  return rows.map((row) => ({
    ...toDue(row),
    failedAtMs: integer(row, 'failed_at_ms'),
    lastError: textOrNull(row, 'last_error') ?? '',
  }));
}

function toDue(row: Row): DueNotification {
  return {
    id: integer(row, 'id'),
    bucketId: integer(row, 'bucket_id'),
    destination: text(row, 'destination'),
    key: text(row, 'key'),
    event: JSON.parse(text(row, 'event')) as StoredEvent, // written by `notify`
    createdAtMs: integer(row, 'created_at_ms'),
    attempts: integer(row, 'attempts'),
  };
}
