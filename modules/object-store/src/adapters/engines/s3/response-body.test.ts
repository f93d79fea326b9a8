import { describe, expect, it } from 'vitest';
import { ResponseBody, type BodySource } from './response-body.ts';

const BLOCK_BYTES = 260 * 1024;
const PIECE_BYTES = 64 * 1024;

/** A connection that delivers bytes in pieces whenever it is not paused, and none after `stopAt`. */
class Connection implements BodySource {
  readonly content: Buffer;
  sentBytes = 0;
  isPaused = false;
  aborted: Error | null = null;
  readonly body: ResponseBody;
  readonly #stopAt: number;

  constructor(
    contentBytes: number,
    options: { lengthBytes?: number | null; stopAt?: number; silenceMs?: number } = {},
  ) {
    this.content = Buffer.from(Array.from({ length: contentBytes }, (_, index) => (index * 7) % 251));
    this.#stopAt = options.stopAt ?? contentBytes;
    const { lengthBytes = contentBytes, silenceMs = 10_000 } = options;
    this.body = new ResponseBody(this, { lengthBytes, silenceMs });
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.deliver();
  }

  abort(reason: Error): void {
    this.aborted = reason;
  }

  deliver(): void {
    while (!this.isPaused && this.sentBytes < this.#stopAt) {
      const end = Math.min(this.#stopAt, this.sentBytes + PIECE_BYTES);
      const piece = this.content.subarray(this.sentBytes, end);
      this.sentBytes = end;
      this.body.push(piece);
    }
    if (!this.isPaused && this.#stopAt === this.content.length) this.body.end('ended');
  }
}

async function readAll(body: ResponseBody): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  for (let block = await body.next(); block !== null; block = await body.next()) blocks.push(Buffer.from(block));
  return blocks;
}

describe('the body of an engine response', () => {
  it.each([0, 1, PIECE_BYTES, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 12_345])(
    'arrives in whole blocks: %i bytes',
    async (size) => {
      const connection = new Connection(size);
      const reading = readAll(connection.body);
      connection.deliver();
      const blocks = await reading;
      expect(Buffer.concat(blocks).equals(connection.content)).toBe(true);
      expect(blocks.slice(0, -1).every((block) => block.length >= BLOCK_BYTES)).toBe(true);
      expect(blocks.length).toBeLessThanOrEqual(Math.ceil(size / BLOCK_BYTES));
      connection.body.destroy();
      expect(connection.aborted).toBeNull(); // the connection is free for the next request
    },
  );

  it('may have an unknown length', async () => {
    const connection = new Connection(2 * BLOCK_BYTES + 5, { lengthBytes: null });
    const reading = readAll(connection.body);
    connection.deliver();
    expect(Buffer.concat(await reading).equals(connection.content)).toBe(true);
  });

  it('may be longer than announced', async () => {
    const connection = new Connection(BLOCK_BYTES + 100, { lengthBytes: 50 });
    const reading = readAll(connection.body);
    connection.deliver();
    expect(Buffer.concat(await reading).equals(connection.content)).toBe(true);
  });

  it('reads at most one block ahead, plus the rest of a piece, while nobody consumes the body', async () => {
    const connection = new Connection(10 * BLOCK_BYTES);
    connection.deliver();
    expect(connection.sentBytes).toBeLessThanOrEqual(BLOCK_BYTES + PIECE_BYTES);
    await connection.body.next();
    expect(connection.sentBytes).toBeLessThanOrEqual(2 * BLOCK_BYTES + PIECE_BYTES);
  });

  it('frees the connection before the last block is read', () => {
    const connection = new Connection(BLOCK_BYTES - 1);
    connection.deliver();
    expect(connection.isPaused).toBe(false);
  });

  it('delivers what arrived before it was cut off, then fails', async () => {
    const connection = new Connection(BLOCK_BYTES, { stopAt: 1000 });
    connection.deliver();
    connection.body.end(new Error('cut off'));
    expect(await connection.body.next()).toHaveLength(1000);
    await expect(connection.body.next()).rejects.toThrow('cut off');
  });

  it('fails if nothing arrives for too long, and closes the connection', async () => {
    const connection = new Connection(BLOCK_BYTES, { stopAt: 1000, silenceMs: 20 });
    connection.deliver();
    expect(await connection.body.next()).toHaveLength(1000);
    await expect(connection.body.next()).rejects.toThrow('fell silent');
    expect(connection.aborted).not.toBeNull();
  });

  it('closes the connection when given up, also for a reader that waits', async () => {
    const connection = new Connection(BLOCK_BYTES, { stopAt: 0 });
    const reading = connection.body.next();
    connection.body.destroy();
    await expect(reading).rejects.toThrow('given up');
    expect(connection.aborted).not.toBeNull();
  });
});
