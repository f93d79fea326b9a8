import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { EventSubscribers, type DatabaseEvents, type EventSubscriber, type OnEventsFault } from './database-events.ts';
import { createSingleClient } from './postgres-client.ts';
import type { PostgresHosts } from './postgres-hosts.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A connection whose peer vanished without a word is found within both times. */
const CHECK_INTERVAL_MS = 10_000;
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Events on PostgreSQL, by LISTEN and NOTIFY. One connection of its own, opened by the first subscription and reopened
 * with growing pauses. A pooler in front must keep sessions: behind one that pools transactions, no event arrives.
 */
export class PostgresEvents implements DatabaseEvents {
  readonly #hosts: PostgresHosts;
  readonly #subscribers: EventSubscribers;
  readonly #onFault: OnEventsFault;
  readonly #closing = new AbortController();
  #client: pg.Client | null = null;
  #running: Promise<void> | null = null;

  constructor(hosts: PostgresHosts, onFault: OnEventsFault) {
    this.#hosts = hosts;
    this.#onFault = onFault;
    this.#subscribers = new EventSubscribers(onFault);
  }

  get isListening(): boolean {
    return this.#client !== null;
  }

  subscribe(channel: string, subscriber: EventSubscriber): () => void {
    const end = this.#subscribers.add(channel, subscriber);
    if (this.#client !== null) void this.#join(this.#client, channel, subscriber);
    this.#running ??= this.#run();
    return end;
  }

  async close(): Promise<void> {
    this.#subscribers.clear();
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#listen(() => {
          failures = 0;
        });
      } catch (error) {
        if (!signal.aborted && failures === 0) this.#onFault(error); // once for each loss
      }
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2);
      failures = Math.min(failures + 1, 10);
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined); // aborted
    }
  }

  /** Listens until the connection is lost, which throws, or `close` is called. */
  async #listen(onListening: () => void): Promise<void> {
    const { signal } = this.#closing;
    const address = this.#hosts.current();
    const { client, end } = createSingleClient(address, 'svc events', ANSWER_TIMEOUT_MS);
    const over = new AbortController();
    let loss: unknown;
    const lose = (error: unknown): void => {
      loss ??= error;
      over.abort();
    };
    const stop = (): void => over.abort();
    signal.addEventListener('abort', stop, { once: true });
    client.on('error', lose);
    client.on('end', () => lose(new Error('the connection was closed')));
    client.on('notification', ({ channel, payload }) => this.#subscribers.deliver(channel, payload ?? ''));
    try {
      const channels = this.#subscribers.channels();
      try {
        await client.connect();
        // A standby refuses to listen.
        for (const channel of channels) await client.query(`listen ${client.escapeIdentifier(channel)}`);
      } catch (error) {
        this.#hosts.refused(address, error);
        throw error;
      }
      this.#client = client;
      onListening();
      for (const channel of this.#subscribers.channels()) {
        if (channels.includes(channel)) this.#subscribers.missed(channel);
        else await this.#join(client, channel, null); // subscribed meanwhile
      }
      while (!over.signal.aborted) {
        await delay(CHECK_INTERVAL_MS, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
        if (!over.signal.aborted) await client.query('select 1');
      }
      if (!signal.aborted) throw loss;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#client = null;
      await end();
    }
  }

  /** Adds a channel to the connection. A failure ends the connection, and the next one has all channels. */
  async #join(client: pg.Client, channel: string, subscriber: EventSubscriber | null): Promise<void> {
    try {
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      if (this.#client === client) client.emit('error', error);
      return;
    }
    if (subscriber === null) this.#subscribers.missed(channel);
    else this.#subscribers.missedBy(channel, subscriber);
  }
}
