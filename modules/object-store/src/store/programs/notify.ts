import { meansEvent } from '../../domain/notifications/event-names.ts';
import type { NotifyRule, StoredEvent } from '../../domain/ports/notifications.ts';
import { first, send, type Program } from '../program.ts';
import { integer } from '../row.ts';

export interface ChangeToTell extends Omit<StoredEvent, 'origin'> {
  bucketId: number;
  key: string;
}

/** Records the event in the transaction of the change, so that after a crash both exist or neither. */
export function* notify(wanted: NotifyRule | undefined, { bucketId, key, ...event }: ChangeToTell): Program<void> {
  if (wanted === undefined) return;
  const stored: StoredEvent = { ...event, origin: wanted.origin };
  for (const { destination, patterns } of wanted.rules) {
    if (!meansEvent(patterns, event.name)) continue;
    // An event behind a postponed one of the same key waits as long.
    const last = yield* first(
      `select next_attempt_at_ms from notification where bucket_id = ? and destination = ? and key = ?
       and failed_at_ms is null order by id desc limit 1`,
      bucketId,
      destination,
      key,
    );
    yield* send(
      `insert into notification (bucket_id, destination, key, event, created_at_ms, attempts, next_attempt_at_ms)
       values (?, ?, ?, ?, ?, 0, ?)`,
      bucketId,
      destination,
      key,
      JSON.stringify(stored),
      event.timeMs,
      last === undefined ? event.timeMs : integer(last, 'next_attempt_at_ms'),
    );
  }
}
