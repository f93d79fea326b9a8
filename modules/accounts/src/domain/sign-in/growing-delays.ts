import { RecentMap } from '@svc/runtime';

export interface DelayOptions {
  /** Failures without a delay, to allow for typing errors. */
  freeFailures: number;
  /** Longest delay. The first is one second; each further failure doubles it. */
  maxDelayMs: number;
  /** One failure is forgotten per interval. */
  forgetEveryMs: number;
  maxKeys: number;
}

interface Failures {
  count: number;
  lastAtMs: number;
}

/**
 * Counts failures by key and returns how long the next attempt must wait. An attempt that is made to wait does not
 * count.
 */
export class GrowingDelays {
  readonly #options: DelayOptions;
  readonly #now: () => Date;
  readonly #failures: RecentMap<Failures>;

  constructor(options: DelayOptions, now: () => Date) {
    this.#options = options;
    this.#now = now;
    this.#failures = new RecentMap(options.maxKeys);
  }

  waitMs(key: string): number {
    const { count, lastAtMs } = this.#current(key);
    const excess = count - this.#options.freeFailures;
    if (excess <= 0) return 0;
    const delayMs = Math.min(this.#options.maxDelayMs, 1000 * 2 ** Math.min(excess - 1, 30));
    return Math.max(0, lastAtMs + delayMs - this.#now().getTime());
  }

  charge(key: string): void {
    this.#failures.set(key, { count: this.#current(key).count + 1, lastAtMs: this.#now().getTime() });
  }

  forgive(key: string): void {
    this.#failures.delete(key);
  }

  #current(key: string): Failures {
    const known = this.#failures.get(key);
    if (known === undefined) return { count: 0, lastAtMs: 0 };
    const forgotten = Math.floor((this.#now().getTime() - known.lastAtMs) / this.#options.forgetEveryMs);
    return { count: Math.max(0, known.count - forgotten), lastAtMs: known.lastAtMs };
  }
}
