import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BlobEntry, BlobStore } from '../../src/domain/ports/blob-store.ts';

export interface OpenedBlobs {
  store: BlobStore;
  close(): Promise<void>;
}

/** Contract for every blob store, whatever its backend. */
export function describeBlobStore(open: () => Promise<OpenedBlobs>): void {
  let opened: OpenedBlobs;
  let store: BlobStore;
  beforeEach(async () => {
    opened = await open();
    store = opened.store;
  });
  afterEach(() => opened.close());

  const write = async (...chunks: Uint8Array[]): Promise<string> => {
    const writer = await store.create();
    for (const chunk of chunks) await writer.write(chunk);
    return await writer.seal();
  };
  const read = async (id: string, start: number, endExclusive: number): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of store.read(id, { start, endExclusive })) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  };
  const list = async (): Promise<BlobEntry[]> => {
    const entries: BlobEntry[] = [];
    for await (const entry of store.list()) entries.push(entry);
    return entries;
  };

  it('returns any range of a blob, however its writes were split', async () => {
    const bytes = randomBytes(3_000_000);
    const id = await write(bytes.subarray(0, 1), bytes.subarray(1, 1_500_000), bytes.subarray(1_500_000));
    expect(await store.size(id)).toBe(bytes.length);
    expect((await read(id, 0, bytes.length)).equals(bytes)).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), fc.nat(bytes.length), async (left, right) => {
        const [start, end] = [Math.min(left, right), Math.max(left, right)];
        expect((await read(id, start, end)).equals(bytes.subarray(start, end))).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it('stores an empty blob', async () => {
    const id = await write();
    expect(await store.size(id)).toBe(0);
    expect(await read(id, 0, 0)).toHaveLength(0);
  });

  it('lists a blob only after it is sealed, and never after an abort', async () => {
    const writer = await store.create();
    await writer.write(randomBytes(2_000_000));
    expect(await list()).toEqual([]);
    await writer.abort();
    await writer.abort();
    expect(await list()).toEqual([]);
    await expect(writer.seal()).rejects.toThrow();
  });

  it('does not list a blob that has ended but is not sealed, or that was aborted after its end', async () => {
    const bytes = randomBytes(1_500_000);
    const writer = await store.create();
    await writer.write(bytes);
    writer.end();
    writer.end();
    expect(await list()).toEqual([]);
    await writer.abort();
    await expect(writer.seal()).rejects.toThrow('sealed or given up');
    const other = await store.create();
    await other.write(bytes);
    other.end();
    const id = await other.seal();
    expect((await read(id, 0, bytes.length)).equals(bytes)).toBe(true);
    expect((await list()).map((entry) => entry.id)).toEqual([id]);
  });

  it('lists and removes blobs, and reports missing bytes as DataLost', async () => {
    const ids = [await write(randomBytes(10)), await write(randomBytes(20)), await write(randomBytes(30))];
    expect(new Set(ids).size).toBe(3);
    expect(new Map((await list()).map(({ id, sizeBytes }) => [id, sizeBytes]))).toEqual(
      new Map(ids.map((id, index) => [id, (index + 1) * 10])),
    );
    const [first = '', second = ''] = ids;
    await store.remove(first);
    await store.remove(first);
    expect(await store.size(first)).toBeNull();
    expect(await list()).toHaveLength(2);
    await expect(read(first, 0, 10)).rejects.toMatchObject({ code: 'DataLost' });
    await expect(read(second, 10, 40)).rejects.toMatchObject({ code: 'DataLost' });
  });

  it('finishes reading a blob that is removed meanwhile, and lets a reader stop early', async () => {
    const bytes = randomBytes(4_000_000);
    const id = await write(bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of store.read(id, { start: 0, endExclusive: bytes.length })) {
      chunks.push(Buffer.from(chunk));
      await store.remove(id);
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    const again = await write(bytes);
    for await (const chunk of store.read(again, { start: 0, endExclusive: bytes.length })) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
  });

  it('writes many blobs concurrently', async () => {
    const bodies = Array.from({ length: 40 }, (_, index) => randomBytes(50_000 + index));
    const ids = await Promise.all(bodies.map((body) => write(body)));
    for (const [index, id] of ids.entries()) {
      const body = bodies[index] ?? Buffer.alloc(0);
      expect((await read(id, 0, body.length)).equals(body)).toBe(true);
    }
  });

  it('sweeps unsealed blobs of a crashed writer once they are old enough', async () => {
    const writer = await store.create();
    for (let mebibytes = 0; mebibytes < 20; mebibytes += 1) await writer.write(randomBytes(1024 * 1024));
    expect(await store.sweepUnsealed(3_600_000)).toBe(0);
    expect(await store.sweepUnsealed(-1_000)).toBe(1);
    await writer.abort();
    await store.check();
  });

  it('imports a blob under its existing ID, replacing an earlier import', async () => {
    const id = `${randomUUID()}/9ix/${randomBytes(16).toString('hex')}`;
    for (const bytes of [randomBytes(100_000), randomBytes(50_000)]) {
      const writer = await store.createAs(id, bytes.length);
      await writer.write(bytes);
      expect(await writer.seal()).toBe(id);
      expect((await read(id, 0, bytes.length)).equals(bytes)).toBe(true);
    }
    expect((await list()).map((entry) => entry.id)).toEqual([id]);
    const plain = randomBytes(16).toString('hex');
    const writer = await store.createAs(plain);
    await writer.seal();
    expect(await store.size(plain)).toBe(0);
  });

  it('quarantines a damaged blob, which hides it from reads and lists', async () => {
    const id = await write(randomBytes(1_000));
    await store.quarantine(id);
    await store.quarantine(id);
    expect(await store.size(id)).toBeNull();
    expect(await list()).toEqual([]);
    await expect(read(id, 0, 10)).rejects.toMatchObject({ code: 'DataLost' });
  });

  it('stores a blob larger than one upload part', async () => {
    const bytes = randomBytes(18 * 1024 * 1024 + 1);
    const writer = await store.create(bytes.length, { workspaceUuid: randomUUID(), bucketId: 2 ** 47 });
    for (let start = 0; start < bytes.length; start += 300_000)
      await writer.write(bytes.subarray(start, start + 300_000));
    const id = await writer.seal();
    expect((await read(id, 0, bytes.length)).equals(bytes)).toBe(true);
    expect((await read(id, 8 * 1024 * 1024 - 5, 8 * 1024 * 1024 + 5)).length).toBe(10);
  });
}
