import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ARCHIVE_KEY_BYTES, decodeArchive, encodeArchive, maxArchiveBytes } from './archive-codec.ts';

const key = { id: 'one', bytes: randomBytes(ARCHIVE_KEY_BYTES) };
const SEALED_PIECE_BYTES = 1024 * 1024 + 28;

/** `isReused`: the buffer of each chunk is that of the one before, as in an engine. */
async function* cut(content: Buffer, chunkBytes: number, isReused: boolean): AsyncGenerator<Uint8Array> {
  const shared = Buffer.alloc(chunkBytes);
  for (let start = 0; start < content.length; start += chunkBytes) {
    const chunk = shared.subarray(0, content.copy(shared, 0, start, Math.min(content.length, start + chunkBytes)));
    yield isReused ? chunk : Buffer.from(chunk);
  }
}

async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const found: Buffer[] = [];
  for await (const chunk of chunks) found.push(Buffer.from(chunk));
  return Buffer.concat(found);
}

const encode = (content: Buffer, as = key): Promise<Buffer> =>
  gather(encodeArchive(cut(content, 70_001, false), as, randomBytes));
const decode = (sealed: Buffer, as = key): Promise<Buffer> => gather(decodeArchive(cut(sealed, 9_999, true), as));

describe('an archive', () => {
  it.each([0, 1, 1024 * 1024, 3_500_000])('returns %i bytes as they were', async (size) => {
    const content = randomBytes(size);
    const sealed = await encode(content);
    expect((await decode(sealed)).equals(content)).toBe(true);
    if (size >= 32) expect(sealed.includes(content.subarray(0, 32))).toBe(false); // fewer bytes occur by chance
  });

  it.each([0, 1, 130_000, 1024 * 1024, 3_500_000])(
    'takes no more than is reserved for %i random bytes',
    async (size) => {
      expect((await encode(randomBytes(size))).length).toBeLessThanOrEqual(maxArchiveBytes(size));
      expect(maxArchiveBytes(size)).toBeLessThan(size * 1.01 + 4096);
    },
  );

  it('is small for content that repeats', async () => {
    const content = Buffer.alloc(20_000_000, 'the same words ');
    const sealed = await encode(content);
    expect(sealed.length).toBeLessThan(100_000);
    expect((await decode(sealed)).equals(content)).toBe(true);
  });

  it('does not open if it was changed, truncated, or put in another order', async () => {
    const sealed = await encode(randomBytes(2_500_000));
    const changed = Buffer.from(sealed);
    changed[1_200_000] = (changed[1_200_000] ?? 0) ^ 1;
    const [first, second] = [
      sealed.subarray(0, SEALED_PIECE_BYTES),
      sealed.subarray(SEALED_PIECE_BYTES, 2 * SEALED_PIECE_BYTES),
    ];
    const swapped = Buffer.concat([second, first, sealed.subarray(2 * SEALED_PIECE_BYTES)]);
    const truncated = [sealed.subarray(0, 2 * SEALED_PIECE_BYTES), sealed.subarray(0, 1000), Buffer.alloc(0)];
    for (const damaged of [changed, swapped, ...truncated, Buffer.concat([sealed, sealed])]) {
      await expect(decode(damaged)).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    }
  });

  it('does not open as another one', async () => {
    const sealed = await encode(Buffer.from('content'));
    await expect(decode(sealed, { ...key, id: 'two' })).rejects.toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    await expect(decode(sealed, { ...key, bytes: randomBytes(ARCHIVE_KEY_BYTES) })).rejects.toMatchObject({
      code: 'ARCHIVE_DAMAGED',
    });
  });

  it('passes a failure of its source on, and ends the source when the reader stops', async () => {
    let ended = false;
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield randomBytes(10);
      throw new Error('the disk failed');
    }
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield randomBytes(100_000);
      } finally {
        ended = true;
      }
    }
    await expect(gather(encodeArchive(failing(), key, randomBytes))).rejects.toThrow('the disk failed');
    const some = encodeArchive(endless(), key, randomBytes);
    await some.next();
    await some.return(undefined);
    await expect.poll(() => ended).toBe(true);
  });
});
