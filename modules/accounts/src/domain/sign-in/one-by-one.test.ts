import { expect, it } from 'vitest';
import { OneByOne } from './one-by-one.ts';

it('runs one key in order, other keys at once, and keeps nothing afterwards', async () => {
  const line = new OneByOne(3);
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = line.run('a', async () => {
    await gate.promise;
    order.push('first');
    throw new Error('fault');
  });
  const second = line.run('a', async () => void order.push('second'));
  await line.run('b', async () => void order.push('other'));
  gate.resolve();
  await expect(first).rejects.toThrow('fault');
  await second;
  expect(order).toEqual(['other', 'first', 'second']);
  expect(line.size).toBe(0);
});

it('refuses when the line is long', async () => {
  const line = new OneByOne(1);
  const gate = Promise.withResolvers<void>();
  const first = line.run('a', () => gate.promise);
  await expect(line.run('a', async () => undefined)).rejects.toMatchObject({ code: 'BUSY' });
  gate.resolve();
  await first;
});
