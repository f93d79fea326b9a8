import { createInterface } from 'node:readline';
import { BackgroundLoop } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { asFields, type EngineClient } from './engine-client.ts';
import { OWNER_LABEL, SANDBOX_LABEL, type Owners } from './names.ts';

const AGAIN_AFTER_MS = 1000;

/**
 * Tracks which sandboxes had processes killed for exceeding their memory since their last start. Engines report this as
 * an event, and in the container's state only for the first process. On connecting, the engine replays the events it
 * still has.
 */
export class MemoryWatch {
  readonly #client: EngineClient;
  readonly #owners: ReadonlySet<string>;
  readonly #kills = new Map<string, number>();
  readonly #loop: BackgroundLoop;
  /** The second of the last event. */
  #sinceSeconds = 0;

  constructor(client: EngineClient, owners: Owners, log: Logger) {
    this.#client = client;
    this.#owners = new Set([owners.current, owners.former]);
    this.#loop = new BackgroundLoop({
      run: (signal) => this.#listen(signal),
      intervalMs: AGAIN_AFTER_MS,
      runsAtStart: true,
      onError: (error, signal) => {
        if (!signal.aborted) log.warn({ err: error }, 'the Docker Engine does not report container events');
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Number of out-of-memory kills in the sandbox since its last start. */
  kills(id: string): number {
    return this.#kills.get(id) ?? 0;
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** Listens until the engine ends the stream. */
  async #listen(signal: AbortSignal): Promise<void> {
    const filters = {
      type: ['container'],
      event: ['oom', 'start', 'destroy'],
      label: [SANDBOX_LABEL],
    };
    const query = { since: this.#sinceSeconds, filters };
    const events = await this.#client.stream('GET', '/events', { query, signal });
    let last = this.#sinceSeconds;
    for await (const line of createInterface({ input: events })) {
      const event = asFields(JSON.parse(line));
      const { [SANDBOX_LABEL]: id, [OWNER_LABEL]: owner } = asFields(asFields(event['Actor'])['Attributes']);
      if (typeof event['time'] === 'number') last = event['time'];
      if (typeof id !== 'string' || !this.#owners.has(String(owner))) continue;
      if (event['Action'] === 'oom') this.#kills.set(id, this.kills(id) + 1);
      else this.#kills.delete(id);
    }
    this.#sinceSeconds = last; // only now: after a failure, the engine replays what it still has
  }
}
