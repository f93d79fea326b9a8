import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

/** Slice and bounds of fair turns. */
export interface FairTurnsOptions extends Pick<FairQueueOptions, 'groupOf'> {
  /** Event loop time per iteration; further turns wait for the next one. */
  sliceMs: number;
  /**
   * The same while several keys take turns: short, since each turn of one key delays the others by a slice for every
   * step they take. Defaults to `sliceMs`.
   */
  sharedSliceMs?: number;
  /**
   * While several keys take turns, how long the loop rests for each millisecond that a slice took, `costMs` excluded:
   * room for the work of others. During a rest, only keys that had no turn in the slice get one. Defaults to 0.
   */
  sharedRest?: number;
  /** Maximum waiting callers. */
  maxWaiting: number;
  /** Maximum waiting callers per key. */
  maxWaitingPerKey: number;
  /** Maximum waiting callers per group. */
  maxWaitingPerGroup: number;
  /** Creates the error if too many callers wait. */
  refuse: (key: string) => Error;
  /** Called when a waiting caller gets its turn, with its waiting time. */
  onGranted?: (waitedMs: number) => void;
  nowMs?: () => number;
  /** Runs the callback in the next iteration of the event loop, after its I/O. Defaults to `setImmediate`. */
  defer?: (callback: () => void) => void;
  /** Runs the callback after the delay. Defaults to `setTimeout`. */
  delay?: (callback: () => void, milliseconds: number) => void;
}

/** Shorter rests are saved up: timers count in milliseconds. */
const MIN_REST_MS = 1;
/** A pause of the process, such as a garbage collection, is no reason for a long rest. */
const MAX_REST_MS = 5;

/** How long turns count as shared after a change of key. */
const SHARED_MS = 1_000;

interface Waiting {
  readonly key: string;
  readonly sinceMs: number;
  readonly costMs: number;
  grant(): void;
}

/**
 * Turns on the event loop, the queue shared by all requests of a process. Work starts in fair order instead of order of
 * arrival, and only as much per iteration as fits into a slice, so that new input is read in between. Without
 * contention, a turn costs two clock reads.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions;
  readonly #queue: FairQueue<Waiting>;
  readonly #nowMs: () => number;
  readonly #defer: (callback: () => void) => void;
  readonly #delay: (callback: () => void, milliseconds: number) => void;
  /** Start of this iteration's slice; null before its first turn. */
  #sliceSinceMs: number | null = null;
  /** Later cost announced by the turns of this slice. */
  #announcedMs = 0;
  /** Time that the turns of this slice took until now. */
  #spentMs = 0;
  #owedRestMs = 0;
  /** Keys with turns in this slice; they wait during the rest after it. */
  readonly #served = new Set<string>();
  #isResting = false;
  #lastKey: string | null = null;
  /** Until then, turns count as shared. */
  #sharedUntilMs = -Infinity;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#defer = options.defer ?? ((callback) => void setImmediate(callback));
    this.#delay = options.delay ?? ((callback, milliseconds) => void setTimeout(callback, milliseconds));
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

  /** Whether several keys took turns within the last second. */
  get isContended(): boolean {
    return this.#nowMs() < this.#sharedUntilMs;
  }

  /**
   * Undefined: proceed immediately. Otherwise resolves at the caller's turn; rejects with `refuse` if too many wait.
   * `costMs`: event loop work that the turn causes later, such as reading the buffered data of a paused stream.
   */
  take(key: string, costMs = 0): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    if (key !== this.#lastKey) {
      if (this.#lastKey !== null) this.#sharedUntilMs = nowMs + SHARED_MS;
      this.#lastKey = key;
    }
    if (this.#mayProceed(key, nowMs)) {
      this.#served.add(key);
      this.#announcedMs += costMs;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const waiting = { key, sinceMs: nowMs, costMs, grant: resolve };
      if (this.#queue.push(key, waiting) === null) reject(this.#options.refuse(key));
    });
  }

  #mayProceed(key: string, nowMs: number): boolean {
    if (this.#isResting) return !this.#served.has(key) && this.#queue.sizeOf(key) === 0;
    if (this.#sliceSinceMs === null) this.#beginSlice(nowMs);
    return this.#queue.size === 0 && this.#hasTime(nowMs);
  }

  #nextSlice(): void {
    this.#sliceSinceMs = null;
    if (this.#queue.size === 0) return;
    const nowMs = this.#nowMs();
    if (this.#rest(nowMs)) return;
    this.#beginSlice(nowMs);
    this.#grantNext();
  }

  /** Whether the loop rests before the next slice. */
  #rest(nowMs: number): boolean {
    const isShared = nowMs < this.#sharedUntilMs;
    const owedMs = this.#owedRestMs + this.#spentMs * (this.#options.sharedRest ?? 0);
    this.#owedRestMs = isShared ? Math.min(owedMs, MAX_REST_MS) : 0;
    this.#spentMs = 0;
    if (this.#owedRestMs < MIN_REST_MS) return false;
    this.#isResting = true;
    this.#delay(() => {
      this.#isResting = false;
      this.#owedRestMs = Math.max(0, this.#owedRestMs - (this.#nowMs() - nowMs));
      this.#nextSlice();
    }, this.#owedRestMs);
    return true;
  }

  #beginSlice(nowMs: number): void {
    this.#sliceSinceMs = nowMs;
    this.#announcedMs = 0;
    this.#spentMs = 0;
    this.#served.clear();
    this.#defer(() => this.#nextSlice());
  }

  #hasTime(nowMs: number): boolean {
    if (this.#sliceSinceMs === null) return false;
    const { sliceMs, sharedSliceMs = sliceMs } = this.#options;
    this.#spentMs = nowMs - this.#sliceSinceMs;
    return this.#spentMs + this.#announcedMs < (nowMs < this.#sharedUntilMs ? sharedSliceMs : sliceMs);
  }

  /** Grants one turn at a time and measures each with the work it starts. */
  #grantNext(): void {
    if (!this.#hasTime(this.#nowMs())) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#options.onGranted?.(this.#nowMs() - next.sinceMs);
    this.#announcedMs += next.costMs;
    this.#served.add(next.key);
    next.grant();
    // Ticks run before promises, except after them: scheduled from a promise, the tick runs once the turn's promises
    // are done.
    queueMicrotask(() => process.nextTick(() => this.#grantNext()));
  }
}
