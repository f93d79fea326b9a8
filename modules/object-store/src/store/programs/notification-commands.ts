import type { MetadataCommands } from '../../domain/ports/metadata-store.ts';
import { all, change, type Program } from '../program.ts';
import { integer, text } from '../row.ts';

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];

export function* forgetNotifications({ ids }: Command<'forgetNotifications'>): Program<void> {
  for (const id of ids) yield* change('delete from notification where id = ?', id);
}

export function* forgetDestination(input: Command<'forgetDestination'>): Program<number> {
  const rows = yield* change(
    `delete from notification where id in (
       select id from notification where bucket_id = ? and destination = ? and failed_at_ms is null order by id limit ?)
     returning id`,
    input.bucketId,
    input.destination,
    input.limit,
  );
  return rows.length;
}

/** Runs in the transaction that deletes the bucket. */
export function* forgetNotificationsOfBucket(bucketId: number): Program<void> {
  yield* change('delete from notification where bucket_id = ?', bucketId);
}

export function* postponeNotification(input: Command<'postponeNotification'>): Program<void> {
  const { id, nextAttemptAtMs, error } = input;
  const [row] = yield* change(
    `update notification set attempts = attempts + 1, last_error = ? where id = ?
     returning bucket_id, destination, key`,
    error,
    id,
  );
  if (row === undefined) return;
  yield* change(
    `update notification set next_attempt_at_ms = ? where bucket_id = ? and destination = ? and key = ?
     and failed_at_ms is null and next_attempt_at_ms < ?`,
    nextAttemptAtMs,
    integer(row, 'bucket_id'),
    text(row, 'destination'),
    text(row, 'key'),
    nextAttemptAtMs,
  );
}

export function* abandonNotifications(input: Command<'abandonNotifications'>): Program<number> {
  const rows = yield* change(
    `update notification set failed_at_ms = ?, last_error = coalesce(last_error, ?) where id in (
       select id from notification where bucket_id = ? and destination = ? and failed_at_ms is null
         and created_at_ms < ? order by id limit ?)
     returning key`,
    input.nowMs,
    input.error,
    input.bucketId,
    input.destination,
    input.createdBeforeMs,
    input.limit,
  );
  // Events that only waited for these are due now.
  for (const key of new Set(rows.map((row) => text(row, 'key')))) {
    yield* change(
      `update notification set next_attempt_at_ms = ? where bucket_id = ? and destination = ? and key = ?
       and failed_at_ms is null and attempts = 0`,
      input.nowMs,
      input.bucketId,
      input.destination,
      key,
    );
  }
  return rows.length;
}

export function* retryNotifications(input: Command<'retryNotifications'>): Program<number> {
  const { bucketId, ids, nowMs, limit } = input;
  const chosen =
    ids ??
    (yield* all(
      'select id from notification where bucket_id = ? and failed_at_ms is not null order by id limit ?',
      bucketId,
      limit,
    )).map((row) => integer(row, 'id'));
  let count = 0;
  for (const id of chosen) {
    const rows = yield* change(
      `update notification set failed_at_ms = null, last_error = null, attempts = 0, created_at_ms = ?,
       next_attempt_at_ms = ? where id = ? and bucket_id = ? and failed_at_ms is not null returning id`,
      nowMs,
      nowMs,
      id,
      bucketId,
    );
    count += rows.length;
  }
  return count;
}

export function* forgetFailedNotifications(input: Command<'forgetFailedNotifications'>): Program<number> {
  const rows = yield* change(
    `delete from notification where id in (
       select id from notification where failed_at_ms is not null and failed_at_ms < ? order by failed_at_ms limit ?)
     returning id`,
    input.failedBeforeMs,
    input.limit,
  );
  return rows.length;
}
