import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@svc/runtime';

/** Shorter pauses cost more than they save. */
const SHORTEST_PAUSE_MS = 20;

/** Limits a reader to an average rate. */
export class Pace {
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #startedAtMs: number;
  #bytes = 0;

  constructor(bytesPerSecond: number, clock: Clock, signal?: AbortSignal) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
    this.#signal = signal;
    this.#startedAtMs = clock.nowMs();
  }

  passed(count: number): Promise<void> | undefined {
    this.#bytes += count;
    const elapsedMs = this.#clock.nowMs() - this.#startedAtMs;
    const aheadMs = (this.#bytes / this.#bytesPerSecond) * 1_000 - elapsedMs;
    if (aheadMs < -1_000) this.#restart(); // idle time earns no burst
    return aheadMs < SHORTEST_PAUSE_MS ? undefined : this.#pause(aheadMs);
  }

  async #pause(durationMs: number): Promise<void> {
    await delay(durationMs, undefined, this.#signal === undefined ? {} : { signal: this.#signal });
  }

  #restart(): void {
    this.#bytes = 0;
    this.#startedAtMs = this.#clock.nowMs();
  }
}
