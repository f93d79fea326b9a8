export interface RateLimit {
  /** Tokens that come back in a minute. */
  perMinute: number;
  /** Tokens that can be spent at once. */
  burst: number;
}

export interface RateDecision {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Unix timestamp in seconds when the bucket is full again. */
  resetAt: number;
  /** Seconds to wait before one token is there; 0 when allowed. */
  retryAfterSeconds: number;
}

interface Bucket {
  tokens: number;
  updatedAtMs: number;
}

/** Token buckets by key. The number of keys is bounded: the longest unused bucket goes first, which only forgives. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #maxKeys: number;

  constructor(limit: RateLimit, now: () => number = Date.now, maxKeys = 50_000) {
    this.#limit = limit;
    this.#now = now;
    this.#maxKeys = maxKeys;
  }

  take(key: string, cost = 1): RateDecision {
    const nowMs = this.#now();
    const perMs = this.#limit.perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: this.#limit.burst, updatedAtMs: nowMs };
    bucket.tokens = Math.min(this.#limit.burst, bucket.tokens + Math.max(0, nowMs - bucket.updatedAtMs) * perMs);
    bucket.updatedAtMs = nowMs; // also when the clock was set back: it must not take tokens away
    const allowed = bucket.tokens >= cost;
    if (allowed) bucket.tokens -= cost;
    this.#buckets.delete(key); // re-inserted last: the map's order is the order of use
    this.#buckets.set(key, bucket);
    this.#trim();
    return {
      allowed,
      limit: this.#limit.perMinute,
      remaining: Math.max(0, Math.floor(bucket.tokens)),
      resetAt: Math.ceil((nowMs + (this.#limit.burst - bucket.tokens) / perMs) / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((cost - bucket.tokens) / perMs / 1000)),
    };
  }

  /** How many callers are remembered at the moment. */
  get size(): number {
    return this.#buckets.size;
  }

  #trim(): void {
    if (this.#buckets.size <= this.#maxKeys) return;
    const oldest = this.#buckets.keys().next();
    if (!oldest.done) this.#buckets.delete(oldest.value);
  }
}

export function rateLimitHeaders(decision: RateDecision): Record<string, string> {
  return {
    'x-ratelimit-limit': String(decision.limit),
    'x-ratelimit-remaining': String(decision.remaining),
    'x-ratelimit-reset': String(decision.resetAt),
    ...(decision.allowed ? {} : { 'retry-after': String(decision.retryAfterSeconds) }),
  };
}
