import { BLOCK_BYTES, BlockMemory } from '@svc/bytes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReceiveQueue } from './receive-queue.ts';

function drain(queue: ReceiveQueue): Buffer[] {
  const chunks: Buffer[] = [];
  for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) chunks.push(chunk);
  return chunks;
}

describe.each([false, true])('ReceiveQueue, with reusable blocks: %s', (isBorrowing) => {
  const memory = new BlockMemory();

  it('returns the bytes in order, however they arrive and are taken', () => {
    const part = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      fc.uint8Array({ minLength: 2_000, maxLength: 6_000 }),
      fc.integer({ min: 16_000, max: 66_000 }).map((size) => new Uint8Array(size).fill(size % 251)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 60 }), (steps) => {
        const queue = new ReceiveQueue();
        if (isBorrowing) queue.borrowFrom(memory);
        const taken: Buffer[] = [];
        const take = (): void => {
          const chunk = queue.shift();
          if (chunk === undefined) return;
          taken.push(Buffer.from(chunk));
          if (isBorrowing) queue.release(chunk);
        };
        for (const [bytes, takesOne] of steps) {
          const slice = Buffer.from(bytes);
          queue.push(slice);
          slice.fill(0); // its memory is reused
          if (takesOne) take();
        }
        const before = queue.sizeBytes;
        const takenBefore = Buffer.concat(taken).length;
        while (queue.sizeBytes > 0) take();
        expect(Buffer.concat(taken).length - takenBefore).toBe(before);
        expect(queue.sizeBytes).toBe(0);
        expect(Buffer.concat(taken).equals(Buffer.concat(steps.map(([bytes]) => bytes)))).toBe(true);
      }),
    );
  });
});

describe('ReceiveQueue', () => {
  it('keeps no large chunk alive for one byte of it, and creates no object per byte', () => {
    const queue = new ReceiveQueue();
    for (let index = 0; index < 20_000; index += 1) queue.push(Buffer.allocUnsafeSlow(64 * 1024).subarray(5, 6));
    const chunks = drain(queue);
    const kept = new Set(chunks.map((chunk) => chunk.buffer));
    const keptBytes = [...kept].reduce((sum, buffer) => sum + buffer.byteLength, 0);
    expect(chunks.length).toBeLessThan(20);
    expect(keptBytes).toBeLessThan(200_000);
  });

  it('queues bulk data in reusable blocks', () => {
    const memory = new BlockMemory();
    const queue = new ReceiveQueue();
    queue.borrowFrom(memory);
    const memories = new Set<unknown>();
    for (let turn = 0; turn < 20; turn += 1) {
      for (let count = 0; count < 32; count += 1) queue.push(Buffer.alloc(16 * 1024));
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
        if (chunk.buffer.byteLength === BLOCK_BYTES) memories.add(chunk.buffer);
        queue.release(chunk);
      }
    }
    expect(memories.size).toBeGreaterThan(0);
    expect(memories.size).toBeLessThanOrEqual(4);
  });

  it('takes no new block for small data', () => {
    const memory = new BlockMemory();
    const queue = new ReceiveQueue();
    queue.borrowFrom(memory);
    queue.push(Buffer.alloc(5000));
    expect(queue.shift()?.buffer.byteLength).toBeLessThan(BLOCK_BYTES);
  });

  it('is empty after clear', () => {
    const queue = new ReceiveQueue();
    queue.push(Buffer.from('small'));
    queue.push(Buffer.alloc(10_000));
    queue.clear();
    expect([queue.sizeBytes, queue.shift()]).toEqual([0, undefined]);
  });
});
