import { expect, it } from 'vitest';
import { RecentResults } from './recent-results.ts';

function createCounted(maxEntries = 10) {
  const time = { nowMs: 0 };
  const results = new RecentResults<number>({ maxAgeMs: 500, maxEntries, nowMs: () => time.nowMs });
  let loads = 0;
  return { time, results, load: async () => (loads += 1) };
}

it('keeps a result until it is too old', async () => {
  const { time, results, load } = createCounted();
  expect(await results.get('a', load)).toBe(1);
  time.nowMs = 499;
  expect(await results.get('a', load)).toBe(1);
  time.nowMs = 500;
  expect(await results.get('a', load)).toBe(2);
});

it('measures the age from the start of the load, which callers share', async () => {
  const { time, results, load } = createCounted();
  const slow = Promise.withResolvers<number>();
  const first = results.get('a', () => slow.promise);
  time.nowMs = 400;
  const second = results.get('a', load);
  slow.resolve(7);
  expect(await Promise.all([first, second])).toEqual([7, 7]);
  time.nowMs = 600;
  expect(await results.get('a', load)).toBe(1);
});

it('keeps no failure, no forgotten result, and nothing from the future', async () => {
  const { time, results, load } = createCounted();
  await expect(results.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await results.get('a', load)).toBe(1);
  results.forget('a');
  expect(await results.get('a', load)).toBe(2);
  time.nowMs = -1_000;
  expect(await results.get('a', load)).toBe(3);
});

it('is bounded', async () => {
  const { results, load } = createCounted(2);
  for (const key of ['a', 'b', 'c']) await results.get(key, load);
  expect(await results.get('a', load)).toBe(4);
  expect(await results.get('c', load)).toBe(3);
});
