import type { Logger } from '@svc/telemetry';
import type { Effects } from '../ports.ts';
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
  readonly #effects: Effects;
  readonly #log: Logger;
  readonly #settings: EventUpkeepSettings;
  #cancel: () => void = () => undefined;
  #pruning: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(events: EventLog, effects: Effects, log: Logger, settings: EventUpkeepSettings) {
    this.#events = events;
    this.#effects = effects;
    this.#log = log;
    this.#settings = settings;
  }

  start(): void {
    if (this.#closed) return;
    this.#cancel = this.#effects.setTimer(() => {
      this.#pruning = this.#prune()
        .catch((error: unknown) => this.#log.warn({ err: error }, 'old events could not be removed'))
        .finally(() => this.start());
    }, PRUNE_EVERY_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    await this.#pruning;
  }

  #prune(): Promise<void> {
    const { kept_days: days, kept_per_workspace: perWorkspace } = this.#settings;
    const before = new Date(this.#effects.now().getTime() - days * DAY_MS).toISOString();
    return this.#events.prune({ before, perWorkspace });
  }
}
