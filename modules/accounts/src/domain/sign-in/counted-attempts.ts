import { TokenBucket, type TokenRate } from '@svc/runtime';

/** Attempts under a key, as stored: `amount` of them at `atMs`, from when they are forgotten over time. */
export interface CountedAttempts {
  readonly key: string;
  readonly amount: number;
  readonly atMs: number;
}

/** A way to count attempts. Times only advance: no clock that is behind gives anything back. */
export interface AttemptCounter {
  /** Milliseconds until the next attempt is allowed; 0 if it is. */
  waitMs(attempts: CountedAttempts, nowMs: number): number;
  charge(attempts: CountedAttempts, nowMs: number): CountedAttempts;
  /** Takes back the charge of an attempt that succeeded. */
  refund(attempts: CountedAttempts, nowMs: number): CountedAttempts;
}

/** Counts attempts as tokens that were taken from a bucket. */
export function createBucketCounter(rate: TokenRate): AttemptCounter {
  const bucketOf = ({ amount, atMs }: CountedAttempts): TokenBucket => {
    const bucket = new TokenBucket(rate, atMs);
    bucket.add(atMs, -amount);
    return bucket;
  };
  const add = (attempts: CountedAttempts, nowMs: number, tokens: number): CountedAttempts => {
    const atMs = Math.max(attempts.atMs, nowMs);
    const bucket = bucketOf(attempts);
    bucket.add(atMs, tokens);
    return { ...attempts, amount: rate.burst - bucket.available(atMs), atMs };
  };
  return {
    waitMs: (attempts, nowMs) => bucketOf(attempts).waitMs(Math.max(attempts.atMs, nowMs)),
    charge: (attempts, nowMs) => add(attempts, nowMs, -1),
    refund: (attempts, nowMs) => add(attempts, nowMs, 1),
  };
}

/** How delays grow with failures. */
export interface DelayOptions {
  /** Failures without a delay, to allow for typing errors. */
  readonly freeFailures: number;
  /** Longest delay. The first is one second; each further failure doubles it. */
  readonly maxDelayMs: number;
  /** One failure is forgotten per interval. */
  readonly forgetEveryMs: number;
}

/** Makes each further failure wait longer; a success forgives all. An attempt that is made to wait does not count. */
export function createDelayCounter(options: DelayOptions): AttemptCounter {
  const remembered = ({ amount, atMs }: CountedAttempts, nowMs: number): number =>
    Math.max(0, amount - Math.floor(Math.max(0, nowMs - atMs) / options.forgetEveryMs));
  return {
    waitMs: (attempts, nowMs) => {
      const excess = remembered(attempts, nowMs) - options.freeFailures;
      if (excess <= 0) return 0;
      const delayMs = Math.min(options.maxDelayMs, 1000 * 2 ** Math.min(excess - 1, 30));
      return Math.max(0, attempts.atMs + delayMs - nowMs);
    },
    charge: (attempts, nowMs) => ({
      ...attempts,
      amount: remembered(attempts, nowMs) + 1,
      atMs: Math.max(attempts.atMs, nowMs),
    }),
    refund: (attempts) => ({ ...attempts, amount: 0 }),
  };
}
