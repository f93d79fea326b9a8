import type { DatabaseSync } from 'node:sqlite';
import { EventSubscribers, type DatabaseEvents, type EventSubscriber, type OnEventsFault } from './database-events.ts';

/** A transaction with more events than this tells the subscribers to read everything again. */
const MAX_PENDING = 10_000;

/**
 * Events on SQLite, which one process uses at a time. `pg_notify` collects them; the dialect calls `take` or
 * `discard` at the end of the transaction.
 */
export class SqliteEvents implements DatabaseEvents {
  readonly isListening = true;
  readonly #subscribers: EventSubscribers;
  readonly #pending = new Map<string, Set<string>>();
  #pendingCount = 0;
  #isOverfull = false;

  constructor(database: DatabaseSync, onFault: OnEventsFault) {
    this.#subscribers = new EventSubscribers(onFault);
    database.function('pg_notify', (channel, id) => {
      this.#add(String(channel), String(id));
      return null;
    });
  }

  subscribe(channel: string, subscriber: EventSubscriber): () => void {
    const end = this.#subscribers.add(channel, subscriber);
    queueMicrotask(() => this.#subscribers.missedBy(channel, subscriber));
    return end;
  }

  close(): Promise<void> {
    this.#subscribers.clear();
    return Promise.resolve();
  }

  /** Takes what the ended transaction published. The result delivers it. */
  take(): () => void {
    if (this.#pendingCount === 0) return () => undefined;
    const published = [...this.#pending].map(([channel, ids]) => ({ channel, ids: [...ids] }));
    const isOverfull = this.#isOverfull;
    this.discard();
    return () => {
      for (const { channel, ids } of published) {
        if (isOverfull) this.#subscribers.missed(channel);
        else for (const id of ids) this.#subscribers.deliver(channel, id);
      }
    };
  }

  /** Drops the events of a transaction that is rolled back. */
  discard(): void {
    this.#pending.clear();
    this.#pendingCount = 0;
    this.#isOverfull = false;
  }

  /** Like PostgreSQL, delivers equal events of a transaction once. */
  #add(channel: string, id: string): void {
    const ids = this.#pending.get(channel) ?? new Set();
    this.#pending.set(channel, ids);
    if (ids.has(id)) return;
    this.#pendingCount += 1;
    if (this.#pendingCount > MAX_PENDING) this.#isOverfull = true;
    else ids.add(id);
  }
}
