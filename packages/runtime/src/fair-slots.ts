import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

/** Capacity and bounds of fair slots. */
export interface FairSlotsOptions extends Pick<FairQueueOptions, 'maxItemsPerKey' | 'maxItemsPerGroup' | 'groupOf'> {
  /** Maximum concurrent work. */
  capacity: number;
  /** Maximum slots per key. Defaults to `capacity`. A lower value keeps a slot free from one key's long work. */
  capacityPerKey?: number;
  /** The same while several keys take slots. Defaults to `capacityPerKey`. */
  sharedCapacityPerKey?: number;
  /** Maximum slots per group. Defaults to `capacity`. */
  capacityPerGroup?: number;
  /** Maximum waiting callers. */
  maxWaiting: number;
  /** Creates the error if too many callers wait. */
  refuse: (key: string) => Error;
  /** Called when a caller gets its slot, with its waiting time. */
  onGranted?: (waitedMs: number) => void;
  nowMs?: () => number;
}

/** How long slots count as shared after a change of key. */
const SHARED_MS = 5_000;

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
  readonly #queue: FairQueue<Waiting>;
  readonly #heldByKey = new Map<string, number>();
  readonly #heldByGroup = new Map<string, number>();
  #free: number;
  #lastKey: string | null = null;
  /** Until then, slots count as shared. */
  #sharedUntilMs = -Infinity;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
    this.#capacityPerKey = options.capacityPerKey ?? options.capacity;
    this.#capacityPerGroup = options.capacityPerGroup ?? options.capacity;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#queue = new FairQueue({ ...options, maxItems: options.maxWaiting });
    this.#free = options.capacity;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get running(): number {
    return this.#options.capacity - this.#free;
  }

  /** Resolves with the slot. Rejects with `refuse` if too many wait, and with the signal's reason on abort. */
  acquire(key: string, signal?: AbortSignal): Promise<ReleaseSlot> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error); // the caller's own reason
    return new Promise((resolve, reject) => {
      const sinceMs = this.#nowMs();
      this.#noteKey(key, sinceMs);
      const giveUp = (): void => {
        cancel?.();
        reject(signal?.reason as Error); // as above
      };
      const grant = (release: ReleaseSlot): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve(release);
      };
      const group = this.#options.groupOf?.(key) ?? key;
      const cancel = this.#queue.push(key, { key, group, sinceMs, grant });
      if (cancel === null) {
        reject(this.#options.refuse(key));
        return;
      }
      signal?.addEventListener('abort', giveUp, { once: true });
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
    const capacityPerKey = this.#nowMs() < this.#sharedUntilMs ? sharedCapacityPerKey : this.#capacityPerKey;
    return (
      (this.#heldByKey.get(key) ?? 0) < capacityPerKey && (this.#heldByGroup.get(group) ?? 0) < this.#capacityPerGroup
    );
  }

  #releaseOnce(key: string, group: string): ReleaseSlot {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#free += 1;
      count(this.#heldByKey, key, -1);
      count(this.#heldByGroup, group, -1);
      this.#grantFree();
    };
  }
}

function count(held: Map<string, number>, name: string, change: number): void {
  const after = (held.get(name) ?? 0) + change;
  if (after === 0) held.delete(name);
  else held.set(name, after);
}
