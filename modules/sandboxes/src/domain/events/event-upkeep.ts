import { BackgroundLoop, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { EventLog } from './event-log.ts';

const PRUNE_EVERY_MS = 300_000;
const DAY_MS = 86_400_000;

export interface EventUpkeepSettings {
  readonly kept_days: number;
  readonly kept_per_workspace: number;
}

/** Prunes events that are too old or too many. Runs on every replica; pruning twice is harmless. */
export class EventUpkeep {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #settings: EventUpkeepSettings;
  readonly #loop: BackgroundLoop;

  constructor(events: EventLog, clock: Clock, log: Logger, settings: EventUpkeepSettings) {
    this.#events = events;
    this.#clock = clock;
    this.#settings = settings;
    this.#loop = new BackgroundLoop({
      run: () => this.#prune(),
      intervalMs: PRUNE_EVERY_MS,
      onError: (error) => log.warn({ err: error }, 'old events could not be removed'),
      clock,
    });
  }

  start(): void {
    this.#loop.start();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  #prune(): Promise<void> {
    const { kept_days: days, kept_per_workspace: perWorkspace } = this.#settings;
    const before = new Date(this.#clock.nowMs() - days * DAY_MS).toISOString();
    return this.#events.prune({ before, perWorkspace });
  }
}
