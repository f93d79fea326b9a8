import { describe, expect, it } from 'vitest';
import { FairTurns, type FairTurnsOptions } from './fair-turns.ts';

/** Turns on a test-controlled event loop and clock. */
function createTurns(limits: Partial<FairTurnsOptions> = {}) {
  let nowMs = 0;
  let deferred: (() => void)[] = [];
  let resting: { wake: () => void; milliseconds: number } | null = null;
  const turns = new FairTurns({
    sliceMs: 2,
    maxWaiting: 100,
    maxWaitingPerKey: 50,
    maxWaitingPerGroup: 50,
    ...limits,
    refuse: (key) => new Error(`${key} is refused`),
    nowMs: () => nowMs,
    defer: (callback) => void deferred.push(callback),
    delay: (wake, milliseconds) => void (resting = { wake, milliseconds }),
  });
  const order: string[] = [];
  return {
    turns,
    order,
    /** Ends the current rest; returns its length, or 0 if there is none. */
    endRest: async (): Promise<number> => {
      if (resting === null) return 0;
      const { wake, milliseconds } = resting;
      resting = null;
      nowMs += milliseconds;
      wake();
      await new Promise(setImmediate);
      return milliseconds;
    },
    pass: (milliseconds: number): void => void (nowMs += milliseconds),
    /** A request that blocks the loop for one millisecond. */
    request: async (key: string): Promise<void> => {
      await turns.take(key);
      order.push(key);
      nowMs += 1;
    },
    iterate: async (): Promise<void> => {
      const callbacks = deferred;
      deferred = [];
      for (const callback of callbacks) callback();
      await new Promise(setImmediate);
    },
  };
}

describe('FairTurns', () => {
  it('lets work through at once while there is time, and one slice of it in each iteration after that', async () => {
    const { turns, request, iterate, order } = createTurns();
    expect(turns.take('a')).toBeUndefined();
    const all = Array.from({ length: 6 }, () => request('a'));
    await new Promise(setImmediate);
    expect(order).toHaveLength(6 - turns.waiting);
    const before = order.length;
    await iterate();
    expect(order.length - before).toBe(Math.min(2, 6 - before));
    for (let count = 0; count < 3; count += 1) await iterate();
    await Promise.all(all);
    expect(turns.waiting).toBe(0);
  });

  it('grants shorter slices while keys share them, and full ones a second later', async () => {
    const { turns, iterate, pass } = createTurns({ sharedSliceMs: 1 });
    let granted = 0;
    const take = async (key: string): Promise<void> => {
      await turns.take(key, 1);
      granted += 1;
    };
    const grantedByIteration = async (): Promise<number> => {
      const before = granted;
      await iterate();
      return granted - before;
    };
    const all = ['a', 'a', 'b', 'a', 'a', 'a', 'a', 'a'].map((key) => take(key));
    await new Promise(setImmediate);
    expect(granted).toBe(2);
    expect([await grantedByIteration(), await grantedByIteration()]).toEqual([1, 1]);
    pass(1_000);
    expect([await grantedByIteration(), await grantedByIteration()]).toEqual([2, 2]);
    await Promise.all(all);
  });

  it('rests after the slices of a busy key while others take turns, and lets those through at once', async () => {
    const { turns, request, iterate, endRest, order, pass } = createTurns({ sharedSliceMs: 1, sharedRest: 2 });
    await request('b');
    const all = Array.from({ length: 9 }, () => request('a'));
    await iterate(); // the rest after the slice of `b`
    await endRest();
    await iterate(); // the rest after a slice of `a`
    const before = order.length;
    await iterate();
    expect(order).toHaveLength(before);
    all.push(request('a'));
    expect(turns.take('b')).toBeUndefined();
    void turns.take('b'); // only one turn per rest
    expect(turns.waiting).toBe(10 - before + 2);
    expect(await endRest()).toBeGreaterThanOrEqual(2);
    expect(order.length).toBeGreaterThan(before);
    pass(1_000); // `a` is alone again
    for (let count = 0; count < 12; count += 1) {
      await iterate();
      if (count > 1) expect(await endRest()).toBe(0);
      else await endRest();
    }
    await Promise.all(all);
    expect(turns.waiting).toBe(0);
  });

  it('measures the work of a turn before it gives the next, on the loop of Node.js as well', async () => {
    let nowMs = 0;
    const turns = new FairTurns({
      sliceMs: 2,
      maxWaiting: 100,
      maxWaitingPerKey: 50,
      maxWaitingPerGroup: 50,
      refuse: (key) => new Error(`${key} is refused`),
      nowMs: () => nowMs,
    });
    let begun = 0;
    const request = async (): Promise<void> => {
      await turns.take('a');
      begun += 1;
      nowMs += 2; // the whole slice
    };
    await request();
    const all = [request(), request()];
    for (const expected of [2, 3]) {
      await new Promise(setImmediate);
      expect(begun).toBe(expected);
    }
    await Promise.all(all);
  });

  it('gives the next turn to the key that came late', async () => {
    const { turns, request, iterate, order } = createTurns();
    const all: Promise<void>[] = [];
    for (let index = 0; index < 4; index += 1) {
      all.push(request('a'));
      await Promise.resolve();
    }
    await new Promise(setImmediate);
    for (let index = 0; index < 10; index += 1) all.push(request('a'));
    const before = order.length;
    all.push(request('b'));
    await iterate();
    await iterate();
    expect(order.slice(before).indexOf('b')).toBeLessThanOrEqual(1);
    for (let count = 0; count < 10; count += 1) await iterate();
    await Promise.all(all);
    expect(turns.waiting).toBe(0);
  });

  it('refuses one key that has too many waiting, and nobody else', async () => {
    const { turns, request, iterate } = createTurns({ maxWaiting: 4, maxWaitingPerKey: 2 });
    await request('a');
    await request('a');
    const waiting = [request('a'), request('a')];
    await expect(request('a')).rejects.toThrow('a is refused');
    waiting.push(request('b'));
    for (let count = 0; count < 4; count += 1) await iterate();
    await Promise.all(waiting);
    expect(turns.waiting).toBe(0);
  });
});
