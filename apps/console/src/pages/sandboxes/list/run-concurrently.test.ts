import { describe, expect, it } from 'vitest';
import { runConcurrently } from './run-concurrently.ts';

describe('runConcurrently', () => {
  it('continues after a failure, and keeps the first reason', async () => {
    const tried: number[] = [];
    const result = await runConcurrently([1, 2, 3, 4, 5, 6], async (item) => {
      tried.push(item);
      if (item % 2 === 0) throw new Error(`no ${item}`);
    });
    expect(tried.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(result).toMatchObject({ done: 3, failed: 3, error: { message: 'no 2' } });
  });

  it('runs a few at a time', async () => {
    let [running, most] = [0, 0];
    await runConcurrently(
      Array.from({ length: 20 }, (_, index) => index),
      async () => {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
      },
    );
    expect(most).toBe(4);
  });
});
