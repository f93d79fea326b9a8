import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES, BlockMemory } from './block-memory.ts';
import { BlockWriter } from './block-writer.ts';

/** Reads the written bytes only when it completes the write, like a full socket. */
class SlowTarget extends Writable {
  readonly sizes: number[] = [];
  readonly #kept: Buffer[] = [];
  #held: { chunk: Buffer; done: () => void } | null = null;
  #waiting: (() => void) | null = null;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#held = { chunk, done };
    this.#waiting?.();
  }

  /** Completes the next write. */
  async takeOne(): Promise<void> {
    if (this.#held === null) await new Promise<void>((resolve) => (this.#waiting = resolve));
    this.#waiting = null;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    this.#kept.push(Buffer.from(held.chunk));
    this.sizes.push(held.chunk.length);
    held.done();
  }

  get isIdle(): boolean {
    return this.#held === null;
  }

  get content(): Buffer {
    return Buffer.concat(this.#kept);
  }
}

/** Memory that is overwritten as soon as the call returns. */
const lent = Buffer.alloc(2 * BLOCK_BYTES);
function writeLent(writer: BlockWriter, bytes: Buffer): boolean {
  bytes.copy(lent);
  const wantsMore = writer.write(lent.subarray(0, bytes.length));
  lent.fill(255);
  return wantsMore;
}

async function takeAll(target: SlowTarget): Promise<void> {
  for (let turns = 0; turns < 1000; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (target.isIdle) return;
    await target.takeOne();
  }
}

describe('BlockWriter', () => {
  it('writes lent bytes in order, for any split', async () => {
    const piece = fc.oneof(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 100_000, max: 2 * BLOCK_BYTES }));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(piece, fc.boolean()), { minLength: 1, maxLength: 12 }), async (steps) => {
        const target = new SlowTarget();
        const writer = new BlockWriter(target, new BlockMemory(), () => undefined);
        const pieces = steps.map(([size], index) => Buffer.alloc(size, index));
        for (const [index, [, takesOne]] of steps.entries()) {
          writeLent(writer, pieces[index] ?? Buffer.alloc(0));
          if (takesOne) await takeAll(target);
        }
        let isFlushed = false;
        writer.flush(() => (isFlushed = true));
        await takeAll(target);
        expect(isFlushed).toBe(true);
        expect(target.content.equals(Buffer.concat(pieces))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('gathers the bytes of one event-loop turn, and writes one block at a time', async () => {
    const target = new SlowTarget();
    const writer = new BlockWriter(target, new BlockMemory(), () => undefined);
    for (let count = 0; count < 16; count += 1) writeLent(writer, Buffer.alloc(16 * 1024, count));
    await takeAll(target);
    expect(target.sizes).toEqual([BLOCK_BYTES, 4 * 16 * 1024]);
  });

  it('writes small data at once', () => {
    const target = new SlowTarget();
    writeLent(new BlockWriter(target, new BlockMemory(), () => undefined), Buffer.from('a line'));
    expect(target.isIdle).toBe(false);
  });

  it('asks to pause while blocks wait, and reports when there is room', async () => {
    const target = new SlowTarget();
    let roomCount = 0;
    const writer = new BlockWriter(target, new BlockMemory(), () => (roomCount += 1));
    const answers = Array.from({ length: 3 }, () => writeLent(writer, Buffer.alloc(BLOCK_BYTES)));
    expect(answers).toEqual([true, true, false]);
    expect(roomCount).toBe(0);
    await target.takeOne();
    await takeAll(target);
    expect(roomCount).toBe(1);
  });

  it('uses the same few blocks for any amount of data', async () => {
    const taken = new Set<Buffer>();
    class Counted extends BlockMemory {
      override take(): Buffer {
        const block = super.take();
        taken.add(block);
        return block;
      }
    }
    const target = new SlowTarget();
    const writer = new BlockWriter(target, new Counted(), () => undefined);
    for (let count = 0; count < 50; count += 1) {
      writeLent(writer, Buffer.alloc(BLOCK_BYTES));
      await takeAll(target);
    }
    expect(taken.size).toBeLessThanOrEqual(2);
  });

  it('drops data for a destroyed target', () => {
    const target = new SlowTarget();
    const writer = new BlockWriter(target, new BlockMemory(), () => undefined);
    target.destroy();
    expect(writeLent(writer, Buffer.alloc(4 * BLOCK_BYTES).subarray(0, 2 * BLOCK_BYTES))).toBe(true);
    expect(target.isIdle).toBe(true);
  });
});
