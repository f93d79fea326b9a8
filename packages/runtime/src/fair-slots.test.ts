import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairSlots, type FairSlotsOptions, type ReleaseSlot } from './fair-slots.ts';

function createSlots(options: Partial<FairSlotsOptions> & { capacity: number }): FairSlots {
  return new FairSlots({ maxWaiting: 100, refuse: (key) => new Error(`${key} is refused`), ...options });
}

/** Acquires a slot and appends it to `order` when granted. */
function ask(slots: FairSlots, key: string, order: [string, ReleaseSlot][], signal?: AbortSignal): Promise<void> {
  return slots.acquire(key, signal).then((release) => void order.push([key, release]));
}

async function settle(): Promise<void> {
  await new Promise(setImmediate);
}

describe('FairSlots', () => {
  it('gives the next free slot to the key that came late, not to the rest of a burst', async () => {
    const slots = createSlots({ capacity: 1 });
    const order: [string, ReleaseSlot][] = [];
    for (const key of ['a', 'a', 'a', 'a', 'b']) void ask(slots, key, order);
    for (let done = 0; done < 5; done += 1) {
      await settle();
      order[done]?.[1]();
    }
    expect(order.map(([key]) => key).join('')).toBe('aabaa');
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('keeps a slot free of the long work of one key', async () => {
    const slots = createSlots({ capacity: 3, capacityPerKey: 2 });
    const order: [string, ReleaseSlot][] = [];
    for (const key of ['a', 'a', 'a', 'b']) void ask(slots, key, order);
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aab');
    order[0]?.[1]();
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aaba');
  });

  it('is exhausted while a key waits only because all slots are taken', async () => {
    const slots = createSlots({ capacity: 2, capacityPerKey: 1 });
    const order: [string, ReleaseSlot][] = [];
    for (const key of ['a', 'a', 'b']) void ask(slots, key, order);
    await settle();
    expect([slots.running, slots.waiting, slots.isExhausted]).toEqual([2, 1, false]);
    void ask(slots, 'c', order);
    expect(slots.isExhausted).toBe(true);
    order[1]?.[1]();
    await settle();
    expect([slots.waiting, slots.isExhausted]).toEqual([1, false]);
  });

  it('lets a key hold fewer slots while others take some, and all of its own again five seconds later', async () => {
    let nowMs = 0;
    const slots = createSlots({ capacity: 4, capacityPerKey: 3, sharedCapacityPerKey: 1, nowMs: () => nowMs });
    const order: [string, ReleaseSlot][] = [];
    for (const key of ['a', 'a', 'a', 'b', 'a', 'a', 'a']) void ask(slots, key, order);
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aaab');
    for (const [, release] of order.slice(0, 3)) release();
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aaaba');
    nowMs = 5_000;
    order[4]?.[1]();
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aaabaaa');
  });

  it('counts slots as shared while others are busy elsewhere, and rests a key from each slot it held', async () => {
    let nowMs = 0;
    let isContended = true;
    const rests: { end: () => void; milliseconds: number }[] = [];
    const slots = createSlots({
      capacity: 3,
      capacityPerKey: 2,
      sharedCapacityPerKey: 1,
      sharedRest: 2,
      isContended: () => isContended,
      nowMs: () => nowMs,
      delay: (end, milliseconds) => void rests.push({ end, milliseconds }),
    });
    const order: [string, ReleaseSlot][] = [];
    for (let index = 0; index < 4; index += 1) void ask(slots, 'a', order);
    await settle();
    expect(order).toHaveLength(1);
    nowMs = 10;
    order[0]?.[1]();
    void ask(slots, 'b', order);
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('ab'); // b takes the slot that a rests from
    expect(rests.map(({ milliseconds }) => milliseconds)).toEqual([20]);
    rests[0]?.end();
    await settle();
    expect(order.map(([key]) => key).join('')).toBe('aba');
    nowMs = 60_000;
    order[2]?.[1]();
    expect(rests.map(({ milliseconds }) => milliseconds)).toEqual([20, 250]); // a slow start is no reason for a long rest
    rests[1]?.end();
    await settle();
    isContended = false;
    order[3]?.[1]();
    await settle();
    expect([order.map(([key]) => key).join(''), rests.length]).toEqual(['abaaa', 2]); // alone: no rest
  });

  it('puts off the rest of a key with little work, and not that of one with much', async () => {
    let nowMs = 0;
    const rests: number[] = [];
    const slots = createSlots({
      capacity: 3,
      sharedCapacityPerKey: 1,
      sharedRest: 5,
      postponedRestMs: 200,
      isContended: () => true,
      nowMs: () => nowMs,
      delay: (end, milliseconds) => {
        rests.push(milliseconds);
        nowMs += milliseconds;
        end();
      },
    });
    const work = async (key: string): Promise<void> => {
      const release = await slots.acquire(key);
      nowMs += 20;
      release();
    };
    for (let index = 0; index < 10; index += 1) {
      await work('seldom');
      nowMs += 200;
    }
    expect(rests).toEqual([]);
    for (let index = 0; index < 5; index += 1) await work('often');
    expect(rests).toEqual([60, 80, 80]); // each work owes 100, and takes 20 itself
  });

  it('keeps a slot free of the long work of one owner, whatever number of keys asks for it', async () => {
    const groupOf = (key: string): string => key.slice(0, 1);
    const slots = createSlots({ capacity: 4, capacityPerKey: 2, capacityPerGroup: 3, groupOf });
    const order: [string, ReleaseSlot][] = [];
    for (const key of ['a1', 'a1', 'a1', 'a2', 'a3', 'b1']) void ask(slots, key, order);
    await settle();
    expect(order.map(([key]) => key)).toEqual(['a1', 'a1', 'a2', 'b1']);
    order[2]?.[1]();
    await settle();
    expect(order.map(([key]) => key).slice(4)).toEqual(['a3']);
    for (const [, release] of order) release();
    await settle();
    for (const [, release] of order) release();
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('refuses when too many wait, in all or of one key', async () => {
    const slots = createSlots({ capacity: 1, maxWaiting: 2, maxItemsPerKey: 1 });
    const release = await slots.acquire('a');
    const waiting = slots.acquire('a');
    await expect(slots.acquire('a')).rejects.toThrow('a is refused');
    const other = slots.acquire('b');
    await expect(slots.acquire('c')).rejects.toThrow('c is refused');
    release();
    (await waiting)();
    (await other)();
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('lets a caller give up, before and while it waits, and passes its slot on', async () => {
    const slots = createSlots({ capacity: 1 });
    const release = await slots.acquire('a');
    const controller = new AbortController();
    const given = slots.acquire('b', controller.signal);
    const next = slots.acquire('c');
    controller.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    await expect(slots.acquire('d', controller.signal)).rejects.toThrow('gone');
    release();
    release(); // a second call has no effect
    expect(slots.running).toBe(1);
    (await next)();
    expect([slots.running, slots.waiting]).toEqual([0, 0]);
  });

  it('releases the slot of work that fails', async () => {
    const slots = createSlots({ capacity: 1 });
    await expect(slots.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await expect(slots.run('a', () => Promise.resolve('next'))).resolves.toBe('next');
  });

  it('never runs more than it may, idles only when nobody it may serve waits, and ends empty', async () => {
    const actions = array(
      record({
        key: constantFrom('a', 'b', 'c'),
        action: constantFrom('ask' as const, 'release' as const, 'abort' as const),
        index: integer({ min: 0, max: 50 }),
      }),
      { maxLength: 60 },
    );
    await assert(
      asyncProperty(
        actions,
        integer({ min: 1, max: 4 }),
        integer({ min: 1, max: 4 }),
        async (plan, capacity, perKey) => {
          const slots = createSlots({ capacity, capacityPerKey: perKey, maxWaiting: 10 });
          const held: [string, ReleaseSlot][] = [];
          const waiting = new Map<AbortController, string>();
          const ended: Promise<unknown>[] = [];
          for (const { key, action, index } of plan) {
            if (action === 'ask') {
              const controller = new AbortController();
              waiting.set(controller, key);
              const asked = slots.acquire(key, controller.signal).then(
                (release) => void held.push([key, release]),
                () => undefined,
              );
              ended.push(asked.finally(() => waiting.delete(controller)));
            }
            if (action === 'release') held.splice(index % Math.max(1, held.length), 1)[0]?.[1]();
            if (action === 'abort') [...waiting.keys()][index % Math.max(1, waiting.size)]?.abort(new Error('gone'));
            await settle();
            const heldBy = (key: string): number => held.filter(([holder]) => holder === key).length;
            expect(slots.running).toBe(held.length);
            expect(slots.running).toBeLessThanOrEqual(capacity);
            for (const key of ['a', 'b', 'c']) expect(heldBy(key)).toBeLessThanOrEqual(perKey);
            const servable = [...waiting.values()].filter((key) => heldBy(key) < perKey);
            if (servable.length > 0) expect(slots.running).toBe(capacity);
          }
          while (held.length > 0 || slots.waiting > 0) {
            held.shift()?.[1]();
            await settle();
          }
          await Promise.all(ended);
          expect([slots.running, slots.waiting]).toEqual([0, 0]);
        },
      ),
      { numRuns: 60 },
    );
  });
});
