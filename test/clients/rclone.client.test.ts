import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { makeTree, readTree, type Tree } from './tree.ts';

let store: ClientStore;
let bucket: string;
let source: string;
let tree: Tree;

describe('rclone', () => {
  beforeAll(async () => {
    store = await startClientStore();
    bucket = await store.makeBucket();
    source = join(store.folder, 'source');
    tree = await makeTree(source);
  });
  afterAll(async () => store.stop());

  describeRequiring(['command:rclone'], 'without a mount', () => {
    it('syncs a tree to a bucket, verifies it byte by byte and syncs it back', async () => {
      await rclone('sync', source, `store:${bucket}/tree`);
      expect(await listed('tree')).toEqual(Object.keys(tree).toSorted());
      await rclone('check', source, `store:${bucket}/tree`);
      await rclone('check', '--download', source, `store:${bucket}/tree`);
      const target = join(store.folder, 'target');
      await rclone('sync', `store:${bucket}/tree`, target);
      expect(await readTree(target)).toEqual(tree);
    });

    it('transfers changes, deletes extraneous files, and finds one damaged byte', async () => {
      const folder = join(store.folder, 'changing');
      await mkdir(folder);
      for (const name of ['kept', 'changed', 'gone']) await writeFile(join(folder, name), name);
      await rclone('sync', folder, `store:${bucket}/changing`);
      await writeFile(join(folder, 'changed'), 'changes');
      await rm(join(folder, 'gone'));
      await expect(rclone('check', folder, `store:${bucket}/changing`)).rejects.toThrow(/2 differences/);
      await rclone('sync', folder, `store:${bucket}/changing`);
      expect(await listed('changing')).toEqual(['changed', 'kept']);
      expect(await rclone('cat', `store:${bucket}/changing/changed`)).toBe('changes');
    });

    it('moves on the server and keeps modification times', async () => {
      await rclone('copyto', `store:${bucket}/tree/parts/two parts.bin`, `store:${bucket}/moved/there.bin`);
      await rclone('moveto', `store:${bucket}/moved/there.bin`, `store:${bucket}/moved/again.bin`);
      expect(await listed('moved')).toEqual(['again.bin']);
      await rclone('check', '--download', '--one-way', '--include', 'two parts.bin', source, `store:${bucket}/tree`);
      const times = async (path: string): Promise<string> => rclone('lsf', '--format', 't', path);
      expect(await times(`store:${bucket}/tree/empty`)).toBe(await times(join(source, 'empty')));
    });
  });

  describeRequiring(['command:rclone', 'command:fusermount3', 'root', 'fuse'], 'as a mount', () => {
    it('reads every file, and a range in the middle of a large one', async () => {
      await rclone('sync', source, `store:${bucket}/mounted`);
      const mountPoint = join(store.folder, 'mount');
      await mkdir(mountPoint);
      const args = ['mount', '--read-only', `store:${bucket}/mounted`, mountPoint];
      const child = spawn('rclone', args, {
        env: { PATH: process.env['PATH'], ...store.environment, ...remote() },
        stdio: 'ignore',
      });
      try {
        const names = Object.keys(tree).toSorted();
        await waitFor(async () => Object.keys(await readTree(mountPoint)).length === names.length, {
          timeoutMs: 60_000,
          description: 'the mount',
        });
        expect(await readTree(mountPoint)).toEqual(tree);
        expect(await middleOf(join(mountPoint, 'parts/many parts.bin'))).toEqual(
          await middleOf(join(source, 'parts/many parts.bin')),
        );
      } finally {
        child.kill('SIGTERM'); // rclone unmounts by itself
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
    });
  });
});

function rclone(...args: string[]): Promise<string> {
  return store.run('rclone', [...args, '--retries', '1'], { environment: remote() });
}

function remote(): Record<string, string> {
  return {
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_STORE_TYPE: 's3',
    RCLONE_CONFIG_STORE_PROVIDER: 'Other',
    RCLONE_CONFIG_STORE_ENV_AUTH: 'true',
    RCLONE_CONFIG_STORE_ENDPOINT: store.endpoint,
    RCLONE_CONFIG_STORE_REGION: store.region,
  };
}

async function listed(prefix: string): Promise<string[]> {
  const output = await rclone('lsf', '--recursive', '--files-only', `store:${bucket}/${prefix}`);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

async function middleOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(100_000), position: 20_000_001 });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
