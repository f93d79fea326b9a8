import { describe, expect, it } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

const nothing = async (): Promise<void> => undefined;

describe('a keyed queue', () => {
  it('runs one key in order and other keys at once, and keeps nothing afterwards', async () => {
    const queue = new KeyedQueue();
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', async () => {
      await gate.promise;
      order.push('first');
      throw new Error('fault');
    });
    const second = queue.run('a', async () => void order.push('second'));
    await queue.run('b', async () => void order.push('other'));
    expect([queue.has('a'), queue.has('b')]).toEqual([true, false]);
    gate.resolve();
    await expect(first).rejects.toThrow('fault');
    await second;
    expect(order).toEqual(['other', 'first', 'second']);
    expect(queue.size).toBe(0);
  });

  it('never runs two of one key at once', async () => {
    const queue = new KeyedQueue();
    let [running, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, (running += 1));
      await nothing();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 50 }, () => queue.run('a', work)));
    expect(most).toBe(1);
  });

  it('refuses a new run when the queue of the key is full', async () => {
    const queue = new KeyedQueue({ maxPerKey: 2, refuse: (key) => new Error(`${key} is busy`) });
    const gate = Promise.withResolvers<void>();
    const runs = [queue.run('a', () => gate.promise), queue.run('a', nothing)];
    await expect(queue.run('a', nothing)).rejects.toThrow('a is busy');
    await queue.run('b', nothing);
    gate.resolve();
    await Promise.all(runs);
    await queue.run('a', nothing);
  });

  it('refuses the run that has waited longest, if told so, but never the current one', async () => {
    const queue = new KeyedQueue({ maxPerKey: 2, refuses: 'oldest', refuse: () => new Error('superseded') });
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', () => gate.promise);
    const second = queue.run('a', nothing);
    const third = queue.run('a', async () => 'third');
    await expect(second).rejects.toThrow('superseded');
    gate.resolve();
    await first;
    await expect(third).resolves.toBe('third');
    expect(queue.size).toBe(0);
  });

  it('takes a run that is aborted while it waits out of the queue', async () => {
    const queue = new KeyedQueue({ maxPerKey: 2 });
    const gate = Promise.withResolvers<void>();
    const first = queue.run('a', () => gate.promise);
    const controller = new AbortController();
    let started = false;
    const aborted = queue.run('a', async () => void (started = true), controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    const next = queue.run('a', async () => 'next'); // its place is free
    gate.resolve();
    await first;
    await expect(next).resolves.toBe('next');
    expect(started).toBe(false);
    await expect(queue.run('a', nothing, controller.signal)).rejects.toThrow('cancelled');
    expect(queue.size).toBe(0);
  });

  it('leaves a started run to its own handling of the signal', async () => {
    const queue = new KeyedQueue();
    const gate = Promise.withResolvers<string>();
    const controller = new AbortController();
    const run = queue.run('a', () => gate.promise, controller.signal);
    controller.abort(new Error('cancelled'));
    gate.resolve('done');
    await expect(run).resolves.toBe('done');
  });

  it('is idle when all runs have ended, failed ones included', async () => {
    const queue = new KeyedQueue();
    const ended: string[] = [];
    const failing = queue.run('a', async () => {
      await nothing();
      ended.push('a');
      throw new Error('fault');
    });
    const observed = expect(failing).rejects.toThrow('fault');
    void queue.run('a', async () => void ended.push('a again'));
    void queue.run('b', async () => void ended.push('b'));
    await queue.idle();
    expect(ended.toSorted()).toEqual(['a', 'a again', 'b']);
    await observed;
  });
});
