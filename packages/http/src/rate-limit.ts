import { TokenBuckets, type TokenRate } from '@svc/runtime';

/** The rate allowed per key: `perMinute` requests on average, `burst` at once. */
export type RateLimit = TokenRate;

/** Outcome of a rate limit check. */
export interface RateDecision {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Unix timestamp in seconds when the bucket is full again. */
  resetAt: number;
  /** Seconds until one token is available; 0 when allowed. */
  retryAfterSeconds: number;
}

/** The part of a limit that each of several replicas enforces, so that all of them together allow the limit. */
export function divideLimit({ perMinute, burst }: RateLimit, replicas: number): RateLimit {
  return { perMinute: Math.ceil(perMinute / replicas), burst: Math.max(1, Math.ceil(burst / replicas)) };
}

/** Token buckets by key, with the figures for rate limit headers. */
export class RateLimiter {
  readonly #buckets: TokenBuckets;
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #replicas: () => number;

  /** `replicas`: how many replicas share the limit now. */
  constructor(
    limit: RateLimit,
    now: () => number = Date.now,
    { maxKeys = 50_000, replicas = () => 1 }: { maxKeys?: number; replicas?: () => number } = {},
  ) {
    this.#limit = limit;
    this.#now = now;
    this.#replicas = replicas;
    this.#buckets = new TokenBuckets(limit, { nowMs: now, maxKeys });
  }

  take(key: string): RateDecision {
    const limit = divideLimit(this.#limit, this.#replicas());
    const nowMs = this.#now();
    const bucket = this.#buckets.bucket(key, limit);
    const allowed = bucket.take(nowMs);
    return {
      allowed,
      limit: limit.perMinute,
      remaining: Math.floor(bucket.available(nowMs)),
      resetAt: Math.ceil(bucket.fullAtMs(nowMs) / 1000),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(bucket.waitMs(nowMs) / 1000)),
    };
  }

  /** Number of callers currently tracked. */
  get size(): number {
    return this.#buckets.size;
  }
}

/** Returns the `X-RateLimit-*` headers of a decision. */
export function rateLimitHeaders(decision: RateDecision): Record<string, string> {
  return {
    'x-ratelimit-limit': String(decision.limit),
    'x-ratelimit-remaining': String(decision.remaining),
    'x-ratelimit-reset': String(decision.resetAt),
    ...(decision.allowed ? {} : { 'retry-after': String(decision.retryAfterSeconds) }),
  };
}
