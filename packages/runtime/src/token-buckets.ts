import { RecentMap } from './recent-map.ts';
import { TokenBucket, type TokenRate } from './token-bucket.ts';

/** Bounds of the buckets. */
export interface TokenBucketsOptions {
  nowMs: () => number;
  /** Maximum tracked keys. Evicting the least recently used only resets its bucket. */
  maxKeys: number;
}

/** One token bucket per key. */
export class TokenBuckets {
  readonly #rate: TokenRate;
  readonly #nowMs: () => number;
  readonly #buckets: RecentMap<TokenBucket>;

  constructor(rate: TokenRate, options: TokenBucketsOptions) {
    this.#rate = rate;
    this.#nowMs = options.nowMs;
    this.#buckets = new RecentMap(options.maxKeys);
  }

  /** Number of tracked keys. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Returns the bucket of a key and marks it as used. `rate` replaces the common rate for this key from now on. */
  bucket(key: string, rate: TokenRate = this.#rate): TokenBucket {
    const known = this.#buckets.get(key);
    const bucket = known ?? new TokenBucket(rate, this.#nowMs());
    if (known !== undefined) bucket.setRate(rate);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** Milliseconds until one token is available; 0 if one is. */
  waitMs(key: string): number {
    return this.bucket(key).waitMs(this.#nowMs());
  }

  /** Adds tokens to a key's bucket, or removes them if negative; clamps to zero and the burst. */
  add(key: string, tokens: number): void {
    this.bucket(key).add(this.#nowMs(), tokens);
  }
}
