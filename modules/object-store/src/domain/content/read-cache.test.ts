import { describe, expect, it } from 'vitest';
import { ReadCache } from './read-cache.ts';

const KIB = 1024;

async function* inChunks(bytes: Buffer, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += sizeBytes) {
    const chunk = Buffer.from(bytes.subarray(start, start + sizeBytes));
    yield chunk;
    chunk.fill(0); // it is valid until the next one
  }
}

/** Reads a blob of these bytes from the engine, and returns what the consumer got. */
async function load(cache: ReadCache, id: string, bytes: Buffer, start = 0): Promise<Buffer> {
  const got: Buffer[] = [];
  const range = { start, endExclusive: start + bytes.length };
  for await (const chunk of cache.keep(id, range, inChunks(bytes, Math.ceil(bytes.length / 3))))
    got.push(Buffer.from(chunk));
  return Buffer.concat(got);
}

function holds(cache: ReadCache, id: string, sizeBytes = 1): boolean {
  return cache.find(id, { start: 0, endExclusive: sizeBytes }) !== null;
}

describe('a cache of reads', () => {
  it('holds a blob after its second read, and any range of it', async () => {
    const cache = new ReadCache(KIB);
    const bytes = Buffer.from('the content of a blob');
    expect(await load(cache, 'a', bytes)).toEqual(bytes);
    expect(holds(cache, 'a')).toBe(false);
    expect(await load(cache, 'a', bytes)).toEqual(bytes);
    expect(cache.find('a', { start: 0, endExclusive: bytes.length })).toEqual(bytes);
    expect(String(cache.find('a', { start: 4, endExclusive: 11 }))).toBe('content');
    expect(cache.find('a', { start: 4, endExclusive: bytes.length + 1 })).toBeNull();
    expect(cache.figures()).toEqual({ sizeBytes: bytes.length, hits: 2, misses: 2 }); // the last one was not loaded
  });

  it('holds a range by its place in the blob', async () => {
    const cache = new ReadCache(KIB);
    for (let time = 0; time < 2; time += 1) await load(cache, 'a', Buffer.from('content'), 4);
    expect(String(cache.find('a', { start: 5, endExclusive: 7 }))).toBe('on');
    expect(cache.find('a', { start: 3, endExclusive: 7 })).toBeNull();
  });

  it('is not changed by a blob that was not read to its end', async () => {
    const cache = new ReadCache(KIB);
    const bytes = Buffer.from('the content of a blob');
    for (let time = 0; time < 3; time += 1) {
      const chunks = cache.keep('a', { start: 0, endExclusive: bytes.length }, inChunks(bytes, 7));
      for await (const chunk of chunks) if (chunk.length > 0) break;
    }
    expect(holds(cache, 'a')).toBe(false);
  });

  it('gives up the least recently read when it is full, and never grows beyond its limit', async () => {
    const cache = new ReadCache(KIB);
    const bytes = Buffer.alloc(300, 'x');
    for (const id of ['a', 'b', 'c']) for (let time = 0; time < 2; time += 1) await load(cache, id, bytes);
    expect(holds(cache, 'a')).toBe(true); // now the most recently read
    for (let time = 0; time < 2; time += 1) await load(cache, 'd', bytes);
    expect(['a', 'b', 'c', 'd'].filter((id) => holds(cache, id))).toEqual(['a', 'c', 'd']);
    expect(cache.figures().sizeBytes).toBe(900);
  });

  it('is not emptied by reading everything once', async () => {
    const cache = new ReadCache(KIB);
    for (let time = 0; time < 2; time += 1) await load(cache, 'a', Buffer.alloc(600));
    for (let index = 0; index < 100; index += 1) await load(cache, `scan-${index}`, Buffer.alloc(600));
    expect(holds(cache, 'a')).toBe(true);
  });

  it('copies little for clients that read slowly', async () => {
    const cache = new ReadCache(8 * KIB * KIB);
    const bytes = Buffer.alloc(400 * KIB);
    const range = { start: 0, endExclusive: bytes.length };
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) await load(cache, id, bytes);
    const slow = ids.map((id) => cache.keep(id, range, inChunks(bytes, 200 * KIB))[Symbol.asyncIterator]());
    for (const reader of slow) await reader.next();
    for (const reader of slow) await reader.next();
    expect(ids.filter((id) => holds(cache, id))).toEqual(['a', 'b']);
    for (const reader of slow) await reader.return?.();
    expect(await load(cache, 'c', bytes)).toEqual(bytes);
    expect(holds(cache, 'c')).toBe(true);
  });

  it.each([
    ['what is larger than itself', KIB, KIB + 1],
    ['ranges beyond an object of 1 MiB', 64 * KIB * KIB, 2 * KIB * KIB],
    ['anything if it is off', 0, 1],
  ])('does not hold %s', async (_case, limitBytes, sizeBytes) => {
    const cache = new ReadCache(limitBytes);
    for (let time = 0; time < 3; time += 1) await load(cache, 'a', Buffer.alloc(sizeBytes));
    expect(holds(cache, 'a', sizeBytes)).toBe(false);
  });
});
