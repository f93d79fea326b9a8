import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskReserve, systemClock } from '@svc/runtime';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { describeBlobStore } from '../../../contract/blob-store-contract.ts';
import { openEmbeddedBlobStore } from '../../../../src/adapters/engines/embedded/blob-store.ts';
import { createIdSource, createLayout } from '../../../../src/adapters/engines/embedded/layout.ts';

const parts = { random: randomBytes, clock: systemClock };

describe('the embedded blob store', () => {
  describeBlobStore(async () => {
    const folder = await temporaryFolder();
    return { store: await openEmbeddedBlobStore({ ...parts, folder: folder.path }), close: () => folder.remove() };
  });

  it('explains in one line why it cannot use its folder', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    await expect(openEmbeddedBlobStore({ ...parts, folder: file })).rejects.toMatchObject({
      code: 'FolderNotUsable',
      message: expect.stringContaining(file),
    });
  });

  it('puts consecutive blobs into a shared folder, and never turns an invalid ID into a path', () => {
    const next = createIdSource(randomBytes, 3);
    const shards = Array.from({ length: 6 }, () => next().slice(0, 3));
    expect(new Set(shards.slice(0, 3)).size).toBe(1);
    expect(new Set(shards.slice(3)).size).toBe(1);
    expect(() => createLayout('/x').blobFile('../../../etc/passwd')).toThrow('malformed');
  });

  it('makes every file accessible to its owner only', async () => {
    await using folder = await temporaryFolder();
    await chmod(folder.path, 0o755);
    const store = await openEmbeddedBlobStore({ ...parts, folder: join(folder.path, 'objects') });
    const writer = await store.create();
    await writer.seal();
    const listing = execFileSync('find', [folder.path, '-mindepth', '1', '-perm', '/077'], { encoding: 'utf8' });
    expect(listing.split('\n').filter((path) => path !== '' && path !== folder.path)).toEqual([]);
  });
});

describeRequiring(['root', 'linux'], 'the embedded blob store on a full disk', () => {
  it('rejects writes with InsufficientStorage, leaves nothing behind, and recovers when there is room', async () => {
    await using folder = await temporaryFolder();
    const mount = join(folder.path, 'disk');
    await mkdir(mount);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', mount]);
    let nowMs = 0; // ages the last measurement on each call, so the disk is measured again
    try {
      const store = await openEmbeddedBlobStore({
        ...parts,
        folder: mount,
        disk: new DiskReserve({ folder: mount, reserveBytes: 0, nowMs: () => (nowMs += 1_000) }),
      });
      await expect(store.create(100_000_000)).rejects.toMatchObject({ code: 'InsufficientStorage', status: 507 });
      const writer = await store.create();
      const fill = async (): Promise<void> => {
        for (let written = 0; written < 20; written += 1) await writer.write(randomBytes(1024 * 1024));
        await writer.seal();
      };
      await expect(fill()).rejects.toMatchObject({ code: 'InsufficientStorage', status: 507 });
      await writer.abort();
      expect(await readdir(join(mount, 'unsealed'))).toEqual([]);
      const again = await store.create();
      await again.write(randomBytes(1024 * 1024));
      await again.seal();
      await store.close();
    } finally {
      execFileSync('umount', [mount]);
    }
  });
});
