import { sql, type QueryExecutorProvider } from 'kysely';

/** Receives the events of a channel. Both methods must return quickly; `EventWorker` does longer work. */
export interface EventSubscriber {
  /** Something with this id changed, in any process. It may be called without a change; read the row. */
  onEvent(id: string): void;
  /**
   * Events may have been missed, so anything may have changed. Called once when listening begins and after every
   * reconnection.
   */
  onMissed(): void;
}

/**
 * Carries "this row changed" between the processes on one database, so that they need not wait for their next poll. An
 * event is a hint without content: a process that misses one finds the change by polling.
 */
export interface DatabaseEvents {
  /** False while events of other processes do not arrive. */
  readonly isListening: boolean;
  /** Returns a function that ends the subscription. */
  subscribe(channel: string, subscriber: EventSubscriber): () => void;
  close(): Promise<void>;
}

/** Called with failures of the connection and of subscribers. */
export type OnEventsFault = (error: unknown) => void;

const CHANNEL = /^[a-z][a-z_]{0,50}$/;
const ID = /^[\w./:-]{1,200}$/;
/** PostgreSQL allows 1664 expressions in a select list. */
const IDS_PER_STATEMENT = 500;

/**
 * Publishes an event for each id when the transaction of `within` commits, and none if it rolls back. On SQLite,
 * `pg_notify` is a function of the same behaviour.
 *
 * ```ts
 * await database.transaction().execute(async (transaction) => {
 *   await transaction.updateTable('cluster').set({ name }).where('id', '=', id).execute();
 *   await publishEvents(transaction, 'cluster', [id]);
 * });
 * ```
 */
export async function publishEvents(
  within: QueryExecutorProvider,
  channel: string,
  ids: readonly string[],
): Promise<void> {
  assertChannel(channel);
  for (const id of ids) {
    if (!ID.test(id)) throw new RangeError(`an event of ${channel} is not an id`);
  }
  for (let start = 0; start < ids.length; start += IDS_PER_STATEMENT) {
    const calls = ids.slice(start, start + IDS_PER_STATEMENT).map((id) => sql`pg_notify(${channel}, ${id})`);
    await sql`select ${sql.join(calls)}`.execute(within);
  }
}

/** Throws a `RangeError` unless the name is safe as an identifier of PostgreSQL. */
export function assertChannel(channel: string): void {
  if (!CHANNEL.test(channel)) throw new RangeError(`${channel} is not the name of a channel`);
}

/** The subscribers of a process, by channel. */
export class EventSubscribers {
  readonly #byChannel = new Map<string, Set<EventSubscriber>>();
  readonly #onFault: OnEventsFault;

  constructor(onFault: OnEventsFault) {
    this.#onFault = onFault;
  }

  channels(): string[] {
    return [...this.#byChannel.keys()];
  }

  add(channel: string, subscriber: EventSubscriber): () => void {
    assertChannel(channel);
    const subscribers = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, subscribers);
    subscribers.add(subscriber);
    return () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && this.#byChannel.get(channel) === subscribers) this.#byChannel.delete(channel);
    };
  }

  clear(): void {
    this.#byChannel.clear();
  }

  deliver(channel: string, id: string): void {
    this.#each(this.#byChannel.get(channel) ?? [], (subscriber) => subscriber.onEvent(id));
  }

  missed(channel: string): void {
    this.#each(this.#byChannel.get(channel) ?? [], (subscriber) => subscriber.onMissed());
  }

  /** For one subscriber, unless its subscription has ended. */
  missedBy(channel: string, subscriber: EventSubscriber): void {
    if (this.#byChannel.get(channel)?.has(subscriber) === true) this.#each([subscriber], (each) => each.onMissed());
  }

  /** A failing subscriber neither fails the transaction nor hides the event from the others. */
  #each(subscribers: Iterable<EventSubscriber>, call: (subscriber: EventSubscriber) => void): void {
    for (const subscriber of subscribers) {
      try {
        call(subscriber);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }
}
