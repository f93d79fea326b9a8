import { FairQueue, type FairQueueOptions } from './fair-queue.ts';
import { RecentMap } from './recent-map.ts';

/** Capacity and bounds of fair slots. */
export interface FairSlotsOptions extends Pick<FairQueueOptions, 'maxItemsPerKey' | 'maxItemsPerGroup' | 'groupOf'> {
  /** Maximum concurrent work. */
  capacity: number;
  /** Maximum slots per key. Defaults to `capacity`. A lower value keeps a slot free from one key's long work. */
  capacityPerKey?: number;
  /** The same while several keys take slots. Defaults to `capacityPerKey`. */
  sharedCapacityPerKey?: number;
  /** Whether other keys are busy with work that takes no slots: slots then count as shared as well. */
  isContended?: () => boolean;
  /**
   * While slots are shared, how long a key rests from a slot for each millisecond that it held it: room for the work of
   * others. The slot itself is free for other keys. Defaults to 0.
   */
  sharedRest?: number;
  /** How much rest a key may put off, so that single works, far apart, need none. Defaults to 0. */
  postponedRestMs?: number;
  /** Maximum slots per group. Defaults to `capacity`. */
  capacityPerGroup?: number;
  /** Maximum waiting callers. */
  maxWaiting: number;
  /** Creates the error if too many callers wait. */
  refuse: (key: string) => Error;
  /** Called when a caller gets its slot, with its waiting time. */
  onGranted?: (waitedMs: number) => void;
  nowMs?: () => number;
  /** Runs the callback after the delay. Defaults to `setTimeout`. */
  delay?: (callback: () => void, milliseconds: number) => void;
}

/** How long slots count as shared after a change of key. */
const SHARED_MS = 5_000;
/** Slow work, such as a start from a cold disk, is no reason for a long rest. */
const MAX_REST_MS = 250;
/** Keys whose rest is known. */
const MAX_RESTING = 10_000;

/** Releases the slot. Further calls have no effect. */
export type ReleaseSlot = () => void;

interface Waiting {
  readonly key: string;
  readonly group: string;
  readonly sinceMs: number;
  grant(release: ReleaseSlot): void;
}

/**
 * Slots shared fairly between groups and between the keys of each group: a free slot goes to the next in turn. Callers
 * that abort leave the queue.
 */
export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #capacityPerKey: number;
  readonly #capacityPerGroup: number;
  readonly #nowMs: () => number;
  readonly #delay: (callback: () => void, milliseconds: number) => void;
  readonly #queue: FairQueue<Waiting>;
  /** Slots held, and those that the key rests from. */
  readonly #heldByKey = new Map<string, number>();
  readonly #heldByGroup = new Map<string, number>();
  /** When a key will have rested from all its work. */
  readonly #restedAtMs = new RecentMap<number>(MAX_RESTING);
  #free: number;
  #lastKey: string | null = null;
  /** Until then, slots count as shared. */
  #sharedUntilMs = -Infinity;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
    this.#capacityPerKey = options.capacityPerKey ?? options.capacity;
    this.#capacityPerGroup = options.capacityPerGroup ?? options.capacity;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#delay = options.delay ?? ((callback, milliseconds) => void setTimeout(callback, milliseconds).unref());
    this.#queue = new FairQueue({ ...options, maxItems: options.maxWaiting });
    this.#free = options.capacity;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get running(): number {
    return this.#options.capacity - this.#free;
  }

  /** Whether a waiting caller would get the next free slot; one whose key or group has all its slots would not. */
  get isExhausted(): boolean {
    return this.#free === 0 && this.#queue.has((key, group) => this.#hasRoom(key, group));
  }

  /** Resolves with the slot. Rejects with `refuse` if too many wait, and with the signal's reason on abort. */
  acquire(key: string, signal?: AbortSignal): Promise<ReleaseSlot> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error); // the caller's own reason
    return new Promise((resolve, reject) => {
      const sinceMs = this.#nowMs();
      this.#noteKey(key, sinceMs);
      const onAbort = (): void => {
        cancel?.();
        reject(signal?.reason as Error); // as above
      };
      const grant = (release: ReleaseSlot): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve(release);
      };
      const group = this.#options.groupOf?.(key) ?? key;
      const cancel = this.#queue.push(key, { key, group, sinceMs, grant });
      if (cancel === null) {
        reject(this.#options.refuse(key));
        return;
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#grantFree();
    });
  }

  /** Runs the work in a slot. */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const release = await this.acquire(key, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #noteKey(key: string, nowMs: number): void {
    if (key === this.#lastKey) return;
    if (this.#lastKey !== null) this.#sharedUntilMs = nowMs + SHARED_MS;
    this.#lastKey = key;
  }

  #grantFree(): void {
    while (this.#free > 0) {
      const next = this.#queue.shift((key, group) => this.#hasRoom(key, group));
      if (next === undefined) return;
      const { key, group, sinceMs, grant } = next;
      this.#free -= 1;
      count(this.#heldByKey, key, 1);
      count(this.#heldByGroup, group, 1);
      grant(this.#releaseOnce(key, group));
      this.#options.onGranted?.(this.#nowMs() - sinceMs);
    }
  }

  #hasRoom(key: string, group: string): boolean {
    const { sharedCapacityPerKey = this.#capacityPerKey } = this.#options;
    const capacityPerKey = this.#isShared(this.#nowMs()) ? sharedCapacityPerKey : this.#capacityPerKey;
    return (
      (this.#heldByKey.get(key) ?? 0) < capacityPerKey && (this.#heldByGroup.get(group) ?? 0) < this.#capacityPerGroup
    );
  }

  #isShared(nowMs: number): boolean {
    return nowMs < this.#sharedUntilMs || this.#options.isContended?.() === true;
  }

  #releaseOnce(key: string, group: string): ReleaseSlot {
    let isReleased = false;
    const sinceMs = this.#nowMs();
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#free += 1;
      count(this.#heldByGroup, group, -1);
      this.#rest(key, sinceMs);
      this.#grantFree();
    };
  }

  /** Returns the key's slot to the key, after its rest. */
  #rest(key: string, sinceMs: number): void {
    const restMs = this.#restOf(key, sinceMs);
    if (restMs < 1) {
      count(this.#heldByKey, key, -1);
      return;
    }
    this.#delay(() => {
      count(this.#heldByKey, key, -1);
      this.#grantFree();
    }, restMs);
  }

  #restOf(key: string, sinceMs: number): number {
    const { sharedRest = 0, postponedRestMs = 0 } = this.#options;
    const nowMs = this.#nowMs();
    if (sharedRest === 0 || !this.#isShared(nowMs)) return 0;
    const restMs = Math.min((nowMs - sinceMs) * sharedRest, MAX_REST_MS);
    const restedAtMs = Math.max(nowMs, this.#restedAtMs.get(key) ?? 0) + restMs;
    this.#restedAtMs.set(key, restedAtMs);
    return Math.min(restMs, restedAtMs - nowMs - postponedRestMs);
  }
}

function count(held: Map<string, number>, name: string, change: number): void {
  const after = (held.get(name) ?? 0) + change;
  if (after === 0) held.delete(name);
  else held.set(name, after);
}
