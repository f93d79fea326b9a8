import { RecentMap } from './recent-map.ts';
import { TokenBucket, type TokenRate } from './token-bucket.ts';

export interface TokenBucketsOptions {
  nowMs: () => number;
  /** Most keys that are remembered. The least recently used is forgotten first, which only forgives. */
  maxKeys: number;
}

/** A token bucket per key. */
export class TokenBuckets {
  readonly #rate: TokenRate;
  readonly #nowMs: () => number;
  readonly #buckets: RecentMap<TokenBucket>;

  constructor(rate: TokenRate, options: TokenBucketsOptions) {
    this.#rate = rate;
    this.#nowMs = options.nowMs;
    this.#buckets = new RecentMap(options.maxKeys);
  }

  /** Keys that are remembered now. */
  get size(): number {
    return this.#buckets.size;
  }

  /** The bucket of a key, which counts as used. `rate` replaces the common rate for this key from now on. */
  bucket(key: string, rate: TokenRate = this.#rate): TokenBucket {
    const known = this.#buckets.get(key);
    const bucket = known ?? new TokenBucket(rate, this.#nowMs());
    if (known !== undefined) bucket.setRate(rate);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** Milliseconds until one token is there; 0 when one is. */
  waitMs(key: string): number {
    return this.bucket(key).waitMs(this.#nowMs());
  }

  /** Adds tokens to the bucket of a key, or takes them away when negative, within zero and the burst. */
  add(key: string, tokens: number): void {
    this.bucket(key).add(this.#nowMs(), tokens);
  }
}
