import { FairQueue, type FairQueueOptions } from './fair-queue.ts';

export interface FairSlotsOptions extends Pick<FairQueueOptions, 'maxItemsPerKey' | 'weight'> {
  /** How much runs at once. */
  capacity: number;
  /** Most slots that one key holds; `capacity` by default. Less keeps a slot free of the long work of one key. */
  capacityPerKey?: number;
  /** Most callers that wait. */
  maxWaiting: number;
  /** What a caller is refused with when too many wait. */
  refuse: (key: string) => Error;
  /** Told when a caller got its slot, with the time it waited. */
  onGranted?: (waitedMs: number) => void;
  nowMs?: () => number;
}

/** Gives the slot back. Calling it twice changes nothing. */
export type ReleaseSlot = () => void;

interface Waiting {
  readonly key: string;
  readonly sinceMs: number;
  grant(release: ReleaseSlot): void;
}

/** Slots shared fairly between keys: a free slot goes to the next key in turn. A caller that gives up leaves the line. */
export class FairSlots {
  readonly #options: FairSlotsOptions;
  readonly #capacityPerKey: number;
  readonly #nowMs: () => number;
  readonly #queue: FairQueue<Waiting>;
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
    this.#capacityPerKey = options.capacityPerKey ?? options.capacity;
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

  /** Resolves with the slot. Rejects with `refuse` when too many wait, and with the signal's reason when it aborts. */
  acquire(key: string, signal?: AbortSignal): Promise<ReleaseSlot> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error); // the reason is the caller's own
    return new Promise((resolve, reject) => {
      const sinceMs = this.#nowMs();
      const giveUp = (): void => {
        cancel?.();
        reject(signal?.reason as Error); // likewise
      };
      const grant = (release: ReleaseSlot): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve(release);
      };
      const cancel = this.#queue.push(key, { key, sinceMs, grant });
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

  #grantFree(): void {
    while (this.#free > 0) {
      const next = this.#queue.shift((key) => this.#heldBy(key) < this.#capacityPerKey);
      if (next === undefined) return;
      this.#free -= 1;
      this.#held.set(next.key, this.#heldBy(next.key) + 1);
      this.#options.onGranted?.(this.#nowMs() - next.sinceMs);
      next.grant(this.#releaseOnce(next.key));
    }
  }

  #releaseOnce(key: string): ReleaseSlot {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#free += 1;
      const held = this.#heldBy(key) - 1;
      if (held === 0) this.#held.delete(key);
      else this.#held.set(key, held);
      this.#grantFree();
    };
  }

  #heldBy(key: string): number {
    return this.#held.get(key) ?? 0;
  }
}
