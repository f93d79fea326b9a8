import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';
import { TokenBuckets } from './token-buckets.ts';

describe('TokenBucket', () => {
  it('spends its burst, then what comes back', () => {
    const bucket = new TokenBucket({ perMinute: 60, burst: 2 }, 0);
    expect([bucket.take(0), bucket.take(0), bucket.take(0)]).toEqual([true, true, false]);
    expect([bucket.waitMs(0), bucket.waitMs(400)]).toEqual([1_000, 600]);
    expect([bucket.take(999), bucket.take(1_000)]).toEqual([false, true]);
    expect(bucket.fullAtMs(1_000)).toBe(3_000);
  });

  it('takes nothing away when the clock is set back', () => {
    const bucket = new TokenBucket({ perMinute: 60, burst: 2 }, 10_000);
    bucket.take(10_000);
    expect(bucket.available(0)).toBe(1);
  });

  it('adds and removes tokens within zero and the burst', () => {
    const bucket = new TokenBucket({ perMinute: 60, burst: 3 }, 0);
    bucket.add(0, 5);
    expect(bucket.available(0)).toBe(3);
    bucket.add(0, -5);
    expect(bucket.available(0)).toBe(0);
  });

  it('loses what is above a lower burst, and says that nothing comes back at a rate of zero', () => {
    const bucket = new TokenBucket({ perMinute: 60, burst: 10 }, 0);
    bucket.setRate({ perMinute: 0, burst: 1 });
    expect([bucket.take(0), bucket.take(60_000)]).toEqual([true, false]);
    expect(bucket.waitMs(60_000)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('TokenBuckets', () => {
  it('counts each key for itself and forgets the least recently used', () => {
    const buckets = new TokenBuckets({ perMinute: 1, burst: 1 }, { nowMs: () => 0, maxKeys: 2 });
    for (const key of ['a', 'b', 'a']) buckets.add(key, -1);
    expect(buckets.waitMs('a')).toBe(60_000);
    buckets.add('c', -1);
    expect([buckets.size, buckets.waitMs('b')]).toEqual([2, 0]);
  });

  it('fills buckets up again, and no fuller than they were', () => {
    let nowMs = 0;
    const buckets = new TokenBuckets({ perMinute: 6, burst: 2 }, { nowMs: () => nowMs, maxKeys: 10 });
    buckets.add('a', -2);
    expect(buckets.waitMs('a')).toBe(10_000);
    nowMs = 3_600_000;
    buckets.add('a', 1);
    buckets.add('a', -2);
    expect(buckets.waitMs('a')).toBe(10_000);
  });
});
