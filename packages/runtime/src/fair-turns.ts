import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

export interface FairTurnsOptions extends Pick<FairQueueOptions, 'groupOf'> {
  /** Time on the event loop after which further turns wait for its next iteration. */
  sliceMs: number;
  /** Most callers that wait. */
  maxWaiting: number;
  /** Most callers of one key that wait. */
  maxWaitingPerKey: number;
  /** Most callers of all keys of one group that wait. */
  maxWaitingPerGroup: number;
  /** What a caller is refused with when too many wait. */
  refuse: (key: string) => Error;
  /** Told when a caller that had to wait got its turn, with the time it waited. */
  onGranted?: (waitedMs: number) => void;
  nowMs?: () => number;
  /** Runs the callback in the next iteration of the event loop, after its I/O; `setImmediate` by default. */
  defer?: (callback: () => void) => void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly costMs: number;
  grant(): void;
}

/**
 * Turns on the event loop, which is the one line in which all requests of a process wait. Work begins in the order of keys
 * instead of the order of arrival, and no more of it in one iteration than fits into a slice: what arrives meanwhile is
 * read in between. Without contention a turn costs two clock readings.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions;
  readonly #queue: FairQueue<Waiting>;
  readonly #nowMs: () => number;
  readonly #defer: (callback: () => void) => void;
  /** When the slice of this iteration began; null before its first turn. */
  #sliceSinceMs: number | null = null;
  /** What the turns of this slice said that they cost later. */
  #announcedMs = 0;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#defer = options.defer ?? ((callback) => void setImmediate(callback));
    this.#queue = new FairQueue({
      ...options,
      maxItems: options.maxWaiting,
      maxItemsPerKey: options.maxWaitingPerKey,
      maxItemsPerGroup: options.maxWaitingPerGroup,
    });
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Undefined: go on at once. Else resolves when it is the caller's turn; rejects with `refuse` when too many wait.
   * `costMs`: work of the loop that the turn leads to later, such as reading what a paused stream has waiting.
   */
  take(key: string, costMs = 0): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    if (this.#sliceSinceMs === null) this.#beginSlice(nowMs);
    if (this.#queue.size === 0 && this.#hasTime(nowMs)) {
      this.#announcedMs += costMs;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      if (this.#queue.push(key, { sinceMs: nowMs, costMs, grant: resolve }) === null) reject(this.#options.refuse(key));
    });
  }

  #nextSlice(): void {
    this.#sliceSinceMs = null;
    if (this.#queue.size === 0) return;
    this.#beginSlice(this.#nowMs());
    this.#grantNext();
  }

  #beginSlice(nowMs: number): void {
    this.#sliceSinceMs = nowMs;
    this.#announcedMs = 0;
    this.#defer(() => this.#nextSlice());
  }

  #hasTime(nowMs: number): boolean {
    if (this.#sliceSinceMs === null) return false;
    return nowMs - this.#sliceSinceMs + this.#announcedMs < this.#options.sliceMs;
  }

  /** One turn after another, each measured with the work that it began. */
  #grantNext(): void {
    if (!this.#hasTime(this.#nowMs())) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#options.onGranted?.(this.#nowMs() - next.sinceMs);
    this.#announcedMs += next.costMs;
    next.grant();
    // Ticks run before promises, except after them: from a promise, the tick runs when those of the turn have nothing to do.
    queueMicrotask(() => process.nextTick(() => this.#grantNext()));
  }
}
