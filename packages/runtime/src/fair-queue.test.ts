import { assert, array, boolean, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const KEYS = ['a', 'b', 'c', 'd'];

function takeAll(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) taken.push(item);
  return taken;
}

describe('FairQueue', () => {
  it('serves a key that comes late after one item of the key that came first', () => {
    const queue = new FairQueue<string>({ maxItems: 100 });
    for (let index = 0; index < 50; index += 1) queue.push('a', `a${index}`);
    queue.push('b', 'b0');
    queue.push('b', 'b1');
    expect([1, 2, 3, 4].map(() => queue.shift())).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  it('gives keys shares by cost', () => {
    const queue = new FairQueue<string>({ maxItems: 100, quantum: 2 });
    for (let index = 0; index < 20; index += 1) {
      queue.push('a', 'a', 2);
      queue.push('b', 'b', 1);
    }
    const first = Array.from({ length: 9 }, () => queue.shift());
    expect(first.join('')).toBe('abbabbabb');
  });

  it('gives an owner of many keys the share of one, and each of its keys a share of that', () => {
    const queue = new FairQueue<string>({ maxItems: 100, groupOf: (key) => key.slice(0, 1) });
    for (const key of ['a1', 'a2', 'a3']) for (let index = 0; index < 4; index += 1) queue.push(key, key);
    for (let index = 0; index < 4; index += 1) queue.push('b1', 'b1');
    const first = Array.from({ length: 8 }, () => queue.shift());
    expect(first).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1']);
  });

  it('bounds what the keys of one group have waiting together', () => {
    const queue = new FairQueue<string>({ maxItems: 10, maxItemsPerGroup: 2, groupOf: (key) => key.slice(0, 1) });
    expect(queue.push('a1', 'first')).not.toBeNull();
    const cancel = queue.push('a2', 'second');
    expect(queue.push('a3', 'third')).toBeNull();
    expect(queue.push('b1', 'of another')).not.toBeNull();
    cancel?.();
    expect(queue.push('a3', 'third')).not.toBeNull();
    expect(takeAll(queue)).toEqual(['first', 'of another', 'third']);
  });

  it('keeps a key in its group while it waits, whatever group it would begin in now', () => {
    const groups = new Map([['a', 'before']]);
    const queue = new FairQueue<string>({ maxItems: 10, groupOf: (key) => groups.get(key) ?? key });
    queue.push('a', 'first');
    groups.set('a', 'after');
    queue.push('a', 'second');
    queue.push('other', 'other');
    expect(takeAll(queue)).toEqual(['first', 'other', 'second']);
    expect([queue.size, queue.drain()]).toEqual([0, []]);
  });

  it('serves an item that costs more than a round, after several rounds', () => {
    const queue = new FairQueue<string>({ maxItems: 10, quantum: 1 });
    queue.push('a', 'large', 5);
    for (let index = 0; index < 9; index += 1) queue.push('b', `b${index}`);
    expect(takeAll(queue).indexOf('large')).toBe(4);
  });

  it('skips keys that may not be served and keeps their place', () => {
    const queue = new FairQueue<string>({ maxItems: 10 });
    queue.push('a', 'a');
    queue.push('b', 'b');
    expect(queue.shift((key) => key !== 'a')).toBe('b');
    expect(queue.shift((key) => key !== 'a')).toBeUndefined();
    expect(queue.shift()).toBe('a');
  });

  it('keeps no more memory for a key that pushes and cancels again and again', () => {
    const queue = new FairQueue<number>({ maxItems: 2, maxItemsPerKey: 1 });
    for (let index = 0; index < 10_000; index += 1) queue.push('a', index)?.();
    expect([queue.size, queue.sizeOf('a')]).toEqual([0, 0]);
    expect(queue.push('a', 1)).not.toBeNull();
    expect(queue.push('a', 2)).toBeNull();
    expect(queue.push('b', 3)).not.toBeNull();
    expect(queue.push('c', 4)).toBeNull();
  });

  it('loses nothing, doubles nothing, keeps the order of each key and its bounds', () => {
    const steps = array(
      record({ key: constantFrom(...KEYS), cost: integer({ min: 1, max: 8 }), take: boolean(), cancel: boolean() }),
      { maxLength: 200 },
    );
    assert(
      property(steps, (plan) => {
        const queue = new FairQueue<{ key: string; number: number }>({
          maxItems: 12,
          maxItemsPerKey: 5,
          quantum: 2,
          groupOf: (key) => (key < 'c' ? 'ab' : key),
        });
        const expected = new Map(KEYS.map((key) => [key, [] as number[]]));
        const check = (): void => {
          const counts = KEYS.map((key) => expected.get(key)?.length ?? 0);
          expect(KEYS.map((key) => queue.sizeOf(key))).toEqual(counts);
          expect(queue.size).toBe(counts.reduce((sum, count) => sum + count, 0));
        };
        for (const [number, { key, cost, take, cancel }] of plan.entries()) {
          const line = expected.get(key) ?? [];
          const isFull = queue.size >= 12 || line.length >= 5;
          const cancelItem = queue.push(key, { key, number }, cost);
          expect(cancelItem === null).toBe(isFull);
          if (cancelItem !== null && cancel) cancelItem();
          else if (cancelItem !== null) line.push(number);
          if (take) {
            const before = queue.size;
            const item = queue.shift();
            expect(item === undefined).toBe(before === 0); // work-conserving
            if (item !== undefined) expect(expected.get(item.key)?.shift()).toBe(item.number);
          }
          check();
        }
      }),
    );
  });

  it('starves nobody: each key is served within one round of the others, whatever they add', () => {
    const scenario = record({
      others: integer({ min: 1, max: 6 }),
      burst: integer({ min: 1, max: 20 }),
      rounds: integer({ min: 1, max: 30 }),
    });
    assert(
      property(scenario, ({ others, burst, rounds }) => {
        const queue = new FairQueue<string>({ maxItems: 100_000 });
        const flood = (): void => {
          for (let index = 0; index < others * burst; index += 1) queue.push(`other ${index % others}`, 'other');
        };
        flood();
        for (let round = 0; round < rounds; round += 1) {
          queue.push('mine', 'mine');
          let waited = 0;
          while (queue.shift() !== 'mine') {
            flood(); // keep more queued than is served
            waited += 1;
          }
          expect(waited).toBeLessThanOrEqual(others);
        }
      }),
      { numRuns: 50 },
    );
  });
});
