import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { GrowingDelays } from './growing-delays.ts';

const options = { freeFailures: 2, maxDelayMs: 60_000, forgetEveryMs: 600_000, maxKeys: 3 };

it('doubles the delay up to its limit', () => {
  const clock = fakeClock();
  const delays = new GrowingDelays(options, () => clock.now());
  const waits = Array.from({ length: 12 }, () => {
    delays.charge('a');
    return delays.waitMs('a') / 1000;
  });
  expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
});

it('forgets failures one at a time', async () => {
  const clock = fakeClock();
  const delays = new GrowingDelays(options, () => clock.now());
  for (let count = 0; count < 5; count++) delays.charge('a');
  await clock.advance(3 * 600_000);
  delays.charge('a');
  expect(delays.waitMs('a')).toBe(1000);
});

it('keeps a bounded number of keys, the most recently used', () => {
  const clock = fakeClock();
  const delays = new GrowingDelays(options, () => clock.now());
  for (const key of ['a', 'a', 'a', 'b', 'c', 'd']) delays.charge(key);
  expect(delays.waitMs('a')).toBe(0);
});
