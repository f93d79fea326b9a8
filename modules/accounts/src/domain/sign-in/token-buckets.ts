import { RecentMap } from './recent-map.ts';

export interface BucketOptions {
  /** How many can be spent at once. */
  burst: number;
  /** How many come back in a minute. */
  perMinute: number;
  maxKeys: number;
}

interface Bucket {
  tokens: number;
  updatedAtMs: number;
}

/** Token buckets whose tokens can be given back: a successful sign-in costs nothing. */
export class TokenBuckets {
  readonly #options: BucketOptions;
  readonly #now: () => Date;
  readonly #buckets: RecentMap<Bucket>;

  constructor(options: BucketOptions, now: () => Date) {
    this.#options = options;
    this.#now = now;
    this.#buckets = new RecentMap(options.maxKeys);
  }

  /** Milliseconds until one token is there; 0 when one is. */
  waitMs(key: string): number {
    const { tokens } = this.#current(key);
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60_000) / this.#options.perMinute);
  }

  take(key: string): void {
    this.#add(key, -1);
  }

  giveBack(key: string): void {
    this.#add(key, 1);
  }

  #add(key: string, change: number): void {
    const { tokens, updatedAtMs } = this.#current(key);
    const bounded = Math.max(0, Math.min(this.#options.burst, tokens + change));
    this.#buckets.set(key, { tokens: bounded, updatedAtMs });
  }

  #current(key: string): Bucket {
    const nowMs = this.#now().getTime();
    const { burst, perMinute } = this.#options;
    const bucket = this.#buckets.get(key) ?? { tokens: burst, updatedAtMs: nowMs };
    const refilled = bucket.tokens + ((nowMs - bucket.updatedAtMs) * perMinute) / 60_000;
    return { tokens: Math.min(burst, refilled), updatedAtMs: nowMs };
  }
}
