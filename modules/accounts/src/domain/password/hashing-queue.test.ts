import { describe, expect, it } from 'vitest';
import { HashingQueue } from './hashing-queue.ts';

/** A queue whose tasks wait for `finish`, with what they have done in order. */
function heldQueue(slots: number, waiting: number) {
  const queue = new HashingQueue(slots, waiting);
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const tasks: Promise<void>[] = [];
  return {
    queue,
    done,
    /** Null, or why the client was refused. */
    start(remoteAddress: string, account: string): Promise<unknown> {
      const started = queue.run({ remoteAddress, account }, async () => {
        await gate.promise;
        done.push(remoteAddress);
      });
      tasks.push(started);
      // A refusal is there at once; a place in the queue lasts until `finish`.
      return Promise.race([started.then(() => null), Promise.resolve().then(pause)]).catch((error: unknown) => error);
    },
    async finish(): Promise<void> {
      gate.resolve();
      await Promise.allSettled(tasks);
    },
  };
}

/** Lets the microtasks of a refusal run. */
async function pause(): Promise<null> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  return null;
}

describe('the queue for hashing', () => {
  it('runs a few, queues some and refuses the rest', async () => {
    const { start, finish } = heldQueue(2, 2);
    for (let count = 0; count < 4; count += 1) expect(await start(`10.0.${count}.1`, `${count}`)).toBeNull();
    expect(await start('10.9.0.1', 'other')).toMatchObject({
      code: 'BUSY',
      status: 503,
      details: { holder: 'replica', held: 4, limit: 4 },
    });
    await finish();
  });

  it('frees the place of a task that fails', async () => {
    const queue = new HashingQueue(1, 1);
    const client = { remoteAddress: '10.0.0.1', account: 'ann' };
    await expect(queue.run(client, () => Promise.reject(new Error('fault')))).rejects.toThrow('fault');
    await expect(queue.run(client, async () => 'free again')).resolves.toBe('free again');
  });

  it('leaves room for others, however many accounts one address or network tries', async () => {
    const { start, finish } = heldQueue(2, 64);
    const refusals: unknown[] = [];
    for (let count = 0; count < 66; count += 1) refusals.push(await start('10.0.0.1', `account ${count}`));
    expect(refusals.filter((each) => each === null)).toHaveLength(22);
    expect(refusals.at(-1)).toMatchObject({ code: 'BUSY', details: { holder: 'address', held: 22, limit: 66 } });
    for (let count = 0; count < 66; count += 1) refusals.push(await start(`10.0.0.${2 + count}`, `more ${count}`));
    expect(refusals.filter((each) => each === null)).toHaveLength(33);
    expect(refusals.at(-1)).toMatchObject({ details: { holder: 'network', held: 33, limit: 66 } });
    expect(await start('192.0.2.1', 'ann')).toBeNull();
    await finish();
  });

  it('leaves room for other accounts, however many addresses try one', async () => {
    const { start, finish } = heldQueue(2, 64);
    const refusals: unknown[] = [];
    for (let count = 0; count < 66; count += 1) refusals.push(await start(`10.0.${count}.1`, 'ann'));
    expect(refusals.filter((each) => each === null)).toHaveLength(22);
    expect(refusals.at(-1)).toMatchObject({ code: 'BUSY', details: { holder: 'account', held: 22, limit: 66 } });
    expect(await start('10.0.99.1', 'bob')).toBeNull();
    await finish();
  });

  it('lets networks take turns', async () => {
    const { start, done, finish } = heldQueue(1, 64);
    for (let count = 0; count < 10; count += 1) await start(`10.0.0.${count}`, `account ${count}`);
    await start('192.0.2.1', 'ann');
    await finish();
    expect(done).toHaveLength(11);
    expect(done.indexOf('192.0.2.1')).toBeLessThan(3);
  });

  it('always has a place for the platform itself while any is free', async () => {
    const { queue, start, finish } = heldQueue(2, 64);
    for (let count = 0; count < 60; count += 1) await start(`10.${count}.0.1`, `account ${count}`);
    const own = queue.run(null, async () => 'done');
    await finish();
    expect(await own).toBe('done');
  });
});
