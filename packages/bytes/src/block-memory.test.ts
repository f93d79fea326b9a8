import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BLOCK_BYTES, BlockMemory } from './block-memory.ts';

describe('BlockMemory', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reuses returned blocks only', () => {
    const memory = new BlockMemory();
    const [first, second] = [memory.take(), memory.take()];
    expect(first.length).toBe(BLOCK_BYTES);
    memory.give(first);
    expect(memory.take()).toBe(first);
    expect(memory.take()).not.toBe(second);
  });

  it('limits the number of free blocks', () => {
    const memory = new BlockMemory();
    for (let count = 0; count < 200; count += 1) memory.give(Buffer.alloc(0));
    let kept = 0;
    while (memory.takeFree() !== null) kept += 1;
    expect(kept).toBeLessThan(100);
  });

  it('frees blocks that were unused for a while, and keeps those in use', () => {
    const memory = new BlockMemory();
    const blocks = Array.from({ length: 10 }, () => memory.take());
    for (const block of blocks) memory.give(block);
    const countFree = (): number => {
      const taken: Buffer[] = [];
      for (let block = memory.takeFree(); block !== null; block = memory.takeFree()) taken.push(block);
      for (const block of taken) memory.give(block);
      return taken.length;
    };
    vi.advanceTimersByTime(5000);
    for (let turn = 0; turn < 3; turn += 1) {
      const inUse = [memory.take(), memory.take()];
      for (const block of inUse) memory.give(block);
      vi.advanceTimersByTime(5000);
    }
    expect(countFree()).toBe(2);
    vi.advanceTimersByTime(20_000);
    expect(countFree()).toBe(0);
  });

  it('gathers small chunks into one buffer, and bulk into a block that is returned once', () => {
    const memory = new BlockMemory();
    expect(memory.gather([Buffer.from('a'), Buffer.from('bc')]).bytes.toString()).toBe('abc');
    const bulk = memory.gather([Buffer.alloc(20_000, 1), Buffer.alloc(30_000, 2)]);
    expect(bulk.bytes).toEqual(Buffer.concat([Buffer.alloc(20_000, 1), Buffer.alloc(30_000, 2)]));
    bulk.release();
    bulk.release();
    expect([memory.takeFree() === null, memory.takeFree() === null]).toEqual([false, true]);
  });
});
