import { expect, it } from 'vitest';
import { loadOnce } from './load-once.ts';

it('loads a value once, also for callers that come meanwhile', async () => {
  let loads = 0;
  const load = loadOnce(async () => (loads += 1));
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  expect(await load()).toBe(1);
});

it('forgets a load that failed', async () => {
  let loads = 0;
  const load = loadOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error('the database is away');
    return loads;
  });
  expect(await Promise.allSettled([load(), load()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect([await load(), await load()]).toEqual([2, 2]);
});
