import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReceiveQueue } from './receive-queue.ts';

function drain(queue: ReceiveQueue): Buffer[] {
  const chunks: Buffer[] = [];
  for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) chunks.push(chunk);
  return chunks;
}

describe('ReceiveQueue', () => {
  it('gives the bytes in their order, however they came and are taken', () => {
    const part = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      fc.uint8Array({ minLength: 2_000, maxLength: 6_000 }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(part, fc.boolean()), { maxLength: 60 }), (steps) => {
        const queue = new ReceiveQueue();
        const taken: Buffer[] = [];
        for (const [bytes, takesOne] of steps) {
          queue.push(Buffer.from(bytes));
          const chunk = takesOne ? queue.shift() : undefined;
          if (chunk !== undefined) taken.push(chunk);
        }
        const before = queue.sizeBytes;
        const rest = drain(queue);
        expect(Buffer.concat(rest).length).toBe(before);
        expect(queue.sizeBytes).toBe(0);
        expect(Buffer.concat([...taken, ...rest])).toEqual(Buffer.concat(steps.map(([bytes]) => Buffer.from(bytes))));
      }),
    );
  });

  it('keeps no large chunk alive for one byte of it, and makes no object for each', () => {
    const queue = new ReceiveQueue();
    for (let index = 0; index < 20_000; index += 1) queue.push(Buffer.allocUnsafeSlow(64 * 1024).subarray(5, 6));
    const chunks = drain(queue);
    const kept = new Set(chunks.map((chunk) => chunk.buffer));
    const keptBytes = [...kept].reduce((sum, buffer) => sum + buffer.byteLength, 0);
    expect(chunks.length).toBeLessThan(20);
    expect(keptBytes).toBeLessThan(200_000);
  });

  it('keeps large slices as they are', () => {
    const queue = new ReceiveQueue();
    const chunk = Buffer.alloc(64 * 1024);
    queue.push(chunk.subarray(9));
    expect(queue.shift()?.buffer).toBe(chunk.buffer);
  });

  it('forgets everything when it is cleared', () => {
    const queue = new ReceiveQueue();
    queue.push(Buffer.from('small'));
    queue.push(Buffer.alloc(10_000));
    queue.clear();
    expect([queue.sizeBytes, queue.shift()]).toEqual([0, undefined]);
  });
});
