import { Readable } from 'node:stream';
import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { zstdFrames } from './zstd-frames.ts';

const skippable = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]), Buffer.from('note')]);
const large = Buffer.alloc(3_000_000, 'large ');

async function decompress(content: Buffer, chunkBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < content.length; at += chunkBytes) chunks.push(content.subarray(at, at + chunkBytes));
  const output: Buffer[] = [];
  for await (const part of zstdFrames(Readable.from(chunks) as AsyncIterable<Buffer>)) output.push(part);
  return Buffer.concat(output);
}

describe.each([1, 7, 100, 1_000_000])('in chunks of %i bytes', (chunkBytes) => {
  it('joins frames and skips skippable ones', async () => {
    const parts = [
      skippable,
      zstdCompressSync('one'),
      zstdCompressSync(large),
      skippable,
      zstdCompressSync('two'),
      skippable,
    ];
    const whole = await decompress(Buffer.concat(parts), chunkBytes);
    expect(whole.equals(Buffer.concat([Buffer.from('one'), large, Buffer.from('two')]))).toBe(true);
  });

  it('refuses truncated and invalid data', async () => {
    const frames = Buffer.concat([zstdCompressSync('one'), zstdCompressSync(large)]);
    await expect(decompress(frames.subarray(0, -2), chunkBytes)).rejects.toThrow();
    await expect(
      decompress(Buffer.concat([zstdCompressSync('one'), Buffer.from('garbage')]), chunkBytes),
    ).rejects.toThrow();
  });
});
