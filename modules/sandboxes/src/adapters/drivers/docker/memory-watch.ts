import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@svc/telemetry';
import { asFields, type EngineClient } from './engine-client.ts';
import { OWNER_LABEL, SANDBOX_LABEL } from './names.ts';

const AGAIN_AFTER_MS = 1000;

/**
 * Tracks which sandboxes had processes killed for exceeding their memory since their last start. Engines report this as
 * an event, and in the container's state only for the first process. On connecting, the engine replays the events it
 * still has.
 */
export class MemoryWatch {
  readonly #client: EngineClient;
  readonly #owner: string;
  readonly #log: Logger;
  readonly #kills = new Map<string, number>();
  readonly #closed = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(client: EngineClient, owner: string, log: Logger) {
    this.#client = client;
    this.#owner = owner;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Number of out-of-memory kills in the sandbox since its last start. */
  kills(id: string): number {
    return this.#kills.get(id) ?? 0;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    let sinceSeconds = 0;
    while (!signal.aborted) {
      try {
        sinceSeconds = await this.#listen(sinceSeconds, signal);
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ err: error }, 'the Docker Engine does not report container events');
      }
      await delay(AGAIN_AFTER_MS, undefined, { signal }).catch(() => undefined); // closed
    }
  }

  /** Listens until the engine ends the stream. Returns the second of the last event. */
  async #listen(since: number, signal: AbortSignal): Promise<number> {
    const filters = {
      type: ['container'],
      event: ['oom', 'start', 'destroy'],
      label: [`${OWNER_LABEL}=${this.#owner}`],
    };
    const events = await this.#client.stream('GET', '/events', { query: { since, filters }, signal });
    let last = since;
    for await (const line of createInterface({ input: events })) {
      const event = asFields(JSON.parse(line));
      const id = asFields(asFields(event['Actor'])['Attributes'])[SANDBOX_LABEL];
      if (typeof event['time'] === 'number') last = event['time'];
      if (typeof id !== 'string') continue;
      if (event['Action'] === 'oom') this.#kills.set(id, this.kills(id) + 1);
      else this.#kills.delete(id);
    }
    return last;
  }
}
