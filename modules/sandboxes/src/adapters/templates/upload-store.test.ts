import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UploadStore } from './upload-store.ts';

const WORKSPACE = 'workspace';

describe('UploadStore', () => {
  let folder: TemporaryFolder;
  let store: UploadStore;
  beforeEach(async () => {
    folder = await temporaryFolder();
    const disk = { hasRoom: async () => true, take: async () => true };
    store = new UploadStore({ folder: folder.path, maxBytes: 80, maxWorkspaceBytes: 100, disk });
  });
  afterEach(() => folder.remove());

  const upload = (name: string, body: AsyncIterable<Buffer>) => store.write(WORKSPACE, name, body, null);
  async function* chunk(sizeBytes: number): AsyncGenerator<Buffer> {
    yield Buffer.alloc(sizeBytes);
  }

  it('counts uploads that finish while another one is under way', async () => {
    const begun = Promise.withResolvers<void>();
    const other = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
      begun.resolve();
      await other.promise;
      yield Buffer.alloc(30);
    }
    const late = upload('late', slow());
    await begun.promise;
    await upload('first', chunk(70));
    other.resolve();
    await expect(late).rejects.toMatchObject({ code: 'FILES_TOO_LARGE' });
    expect(await readdir(join(folder.path, WORKSPACE))).toEqual(['first']);
    await upload('second', chunk(30));
    await expect(upload('third', chunk(1))).rejects.toMatchObject({ code: 'FILES_TOO_LARGE' });
  });

  it('removes what an interrupted upload left, and nothing of one under way', async () => {
    const begun = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
      begun.resolve();
      await rest.promise;
      yield Buffer.alloc(10);
    }
    const underWay = upload('slow', slow());
    await begun.promise;
    await writeFile(join(folder.path, WORKSPACE, 'lost.0123456789ab.new'), 'half');
    await store.sweep(new Date(0));
    const names = await readdir(join(folder.path, WORKSPACE));
    expect(names).toEqual([expect.stringMatching(/^slow\..*\.new$/)]);
    rest.resolve();
    expect(await underWay).toEqual({ sizeBytes: 20 });
    expect(await readdir(join(folder.path, WORKSPACE))).toEqual(['slow']);
  });
});
