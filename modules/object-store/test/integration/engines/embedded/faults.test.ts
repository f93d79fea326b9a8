import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@svc/runtime';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../../../src/domain/ports/blob-store.ts';
import { failingCall, faultyFileSystem, type FaultPlan } from '../../../support/faults/faulty-file-system.ts';
import { openEmbeddedBlobStore } from '../../../../src/adapters/engines/embedded/blob-store.ts';
import { nodeFileSystem } from '../../../../src/adapters/engines/embedded/file-system.ts';

const body = randomBytes(2_500_000);

async function write(store: BlobStore): Promise<string> {
  const writer = await store.create();
  try {
    for (let start = 0; start < body.length; start += 400_000)
      await writer.write(body.subarray(start, start + 400_000));
    return await writer.seal();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function read(store: BlobStore, id: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of store.read(id, { start: 0, endExclusive: body.length })) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function listIds(store: BlobStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list()) ids.push(id);
  return ids;
}

describe('the embedded blob store on a failing disk', () => {
  const opened = async (folder: string) => {
    const faults: { plan: FaultPlan } = { plan: () => null };
    const fileSystem = faultyFileSystem(nodeFileSystem(), (call, path) => faults.plan(call, path));
    const store = await openEmbeddedBlobStore({ folder, random: randomBytes, clock: systemClock, fileSystem });
    return { store, faults };
  };

  it.each([
    ['EIO', 'StorageFault'],
    ['EROFS', 'StorageFault'],
    ['ENOSPC', 'InsufficientStorage'],
  ])(
    'reports %s as %s whichever call fails, leaves nothing behind, and harms no other blob',
    async (code, expected) => {
      await using folder = await temporaryFolder();
      const { store, faults } = await opened(folder.path);
      const before = await write(store);
      const counting = failingCall(new Set(), code);
      faults.plan = counting;
      const probe = await write(store);
      await store.remove(probe);
      const calls = counting.calls() - 1; // excluding the removal
      expect(calls).toBeGreaterThan(5);
      for (let number = 0; number < calls; number += 1) {
        faults.plan = failingCall(new Set([number]), code);
        await expect(write(store)).rejects.toMatchObject({ code: expected });
        faults.plan = () => null;
        expect(await readdir(join(folder.path, 'unsealed'))).toEqual([]);
        expect(await listIds(store)).toEqual([before]);
      }
      expect((await read(store, before)).equals(body)).toBe(true);
      expect((await read(store, await write(store))).equals(body)).toBe(true);
    },
  );

  it('reports a failed read as StorageFault, never as bytes, and recovers with the disk', async () => {
    await using folder = await temporaryFolder();
    const { store, faults } = await opened(folder.path);
    const id = await write(store);
    for (const number of [0, 1, 3]) {
      faults.plan = failingCall(new Set([number]), 'EIO');
      await expect(read(store, id)).rejects.toMatchObject({ code: 'StorageFault', status: 500 });
    }
    faults.plan = () => null;
    expect((await read(store, id)).equals(body)).toBe(true);
  });

  it('reports a failed read-ahead to a slow reader on its next read', async () => {
    await using folder = await temporaryFolder();
    const { store, faults } = await opened(folder.path);
    const id = await write(store);
    faults.plan = failingCall(new Set([2]), 'EIO'); // the second range, which is read ahead
    const chunks = store.read(id, { start: 0, endExclusive: body.length })[Symbol.asyncIterator]();
    expect((await chunks.next()).done).toBe(false);
    await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would be reported by now
    await expect(chunks.next()).rejects.toMatchObject({ code: 'StorageFault' });
  });
});
