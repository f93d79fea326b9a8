import { describe, expect, it } from 'vitest';
import type { Lock } from '../program.ts';
import { LockQueue } from './lock-queue.ts';

const exclusive = (name: string): Lock => ({ name, shared: false });
const shared = (name: string): Lock => ({ name, shared: true });

/** Runs programs that end when told to, and records their starts. */
function createBench() {
  const queue = new LockQueue();
  const started: string[] = [];
  const run = (name: string, ...locks: readonly Lock[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = queue.run(locks, async () => {
      started.push(name);
      await promise;
    });
    return { done, end: resolve, fail: reject };
  };
  return { started, run };
}

describe('the lock queue of a transaction', () => {
  it('runs programs that claim the same lock in the order of their calls', async () => {
    const { started, run } = createBench();
    const first = run('first', exclusive('a'));
    const second = run('second', exclusive('a'));
    const other = run('other', exclusive('b'));
    expect(started).toEqual(['first', 'other']);
    first.end();
    other.end();
    await Promise.all([first.done, other.done]);
    second.end();
    await second.done;
    expect(started).toEqual(['first', 'other', 'second']);
  });

  it('lets programs share a lock, but not with one that claims it exclusively', async () => {
    const { started, run } = createBench();
    const readers = [run('one', shared('a')), run('two', shared('a'))];
    const writer = run('writer', exclusive('a'));
    const late = run('late', shared('a'));
    expect(started).toEqual(['one', 'two']);
    for (const reader of readers) reader.end();
    writer.end();
    await writer.done;
    late.end();
    await late.done;
    expect(started).toEqual(['one', 'two', 'writer', 'late']);
  });

  it('never waits in a circle, and passes a lock on when a program fails', async () => {
    const { started, run } = createBench();
    const first = run('first', exclusive('a'), exclusive('b'));
    const second = run('second', exclusive('b'), exclusive('a'));
    first.fail(new Error('refused'));
    await expect(first.done).rejects.toThrow('refused');
    second.end();
    await second.done;
    expect(started).toEqual(['first', 'second']);
  });
});
