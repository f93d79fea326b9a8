import { expect, it } from 'vitest';
import { createBucketCounter, createDelayCounter, type CountedAttempts } from './counted-attempts.ts';

const NONE: CountedAttempts = { key: 'a', amount: 0, atMs: 0 };
const delays = createDelayCounter({ freeFailures: 2, maxDelayMs: 60_000, forgetEveryMs: 600_000 });
const buckets = createBucketCounter({ burst: 3, perMinute: 6 });

function charged(counter: typeof delays, times: number, nowMs = 0, from = NONE): CountedAttempts {
  let attempts = from;
  for (let count = 0; count < times; count += 1) attempts = counter.charge(attempts, nowMs);
  return attempts;
}

it('doubles the delay up to its limit', () => {
  const waits = Array.from({ length: 12 }, (_, index) => delays.waitMs(charged(delays, index + 1), 0) / 1000);
  expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
});

it('forgets failures one at a time', () => {
  const later = 3 * 600_000;
  expect(delays.waitMs(charged(delays, 1, later, charged(delays, 5)), later)).toBe(1000);
});

it('forgets all failures after a success', () => {
  expect(delays.waitMs(delays.refund(charged(delays, 9), 0), 0)).toBe(0);
});

it('allows a burst, then the rate', () => {
  const spent = charged(buckets, 3);
  expect([buckets.waitMs(charged(buckets, 2), 0), buckets.waitMs(spent, 0)]).toEqual([0, 10_000]);
  expect([buckets.waitMs(spent, 9_000), buckets.waitMs(spent, 10_000)]).toEqual([1_000, 0]);
  expect(buckets.waitMs(buckets.refund(spent, 0), 0)).toBe(0);
});

it('gives nothing to a replica whose clock is behind', () => {
  const ahead = charged(buckets, 3, 60_000);
  expect(buckets.waitMs(ahead, 0)).toBe(10_000);
  expect(buckets.refund(buckets.charge(ahead, 0), 0).atMs).toBe(60_000);
  expect(delays.charge(charged(delays, 3, 60_000), 0).atMs).toBe(60_000);
});
