import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { makeTree, readTree } from './tree.ts';

describeRequiring(['command:s3fs', 'command:fusermount', 'root', 'fuse'], 's3fs', () => {
  let store: ClientStore;
  let bucket: string;
  beforeAll(async () => {
    store = await startClientStore();
    bucket = await store.makeBucket();
  });
  afterAll(async () => store.stop());

  /** Runs in the foreground under our control; SIGTERM unmounts it. */
  async function withMount(use: (mountPoint: string) => Promise<void>): Promise<void> {
    const mountPoint = join(store.folder, 'mount');
    await mkdir(mountPoint, { recursive: true });
    const outside = (await stat(mountPoint)).dev;
    const options = `url=${store.endpoint},use_path_request_style,endpoint=${store.region},multipart_size=10`;
    const child = spawn('s3fs', [bucket, mountPoint, '-f', '-o', options], {
      env: { PATH: process.env['PATH'], ...accessKey(store) },
      stdio: 'ignore',
    });
    try {
      await waitFor(async () => (await stat(mountPoint)).dev !== outside, { description: 'the mount' });
      await use(mountPoint);
    } finally {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  }

  it('keeps a tree copied into a mount for the next mount', async () => {
    const source = join(store.folder, 'source');
    const tree = await makeTree(source);
    await withMount(async (mountPoint) => {
      await store.run('cp', ['-r', source, join(mountPoint, 'tree')]);
    });
    await withMount(async (mountPoint) => {
      expect(await readTree(join(mountPoint, 'tree'))).toEqual(tree);
    });
  });

  it('appends, renames and removes', async () => {
    await withMount(async (mountPoint) => {
      await writeFile(join(mountPoint, 'note'), 'first ');
      await writeFile(join(mountPoint, 'note'), 'second', { flag: 'a' });
      await rename(join(mountPoint, 'note'), join(mountPoint, 'kept'));
      await writeFile(join(mountPoint, 'gone'), 'gone');
      await rm(join(mountPoint, 'gone'));
    });
    await withMount(async (mountPoint) => {
      expect(await readFile(join(mountPoint, 'kept'), 'utf8')).toBe('first second');
      await expect(stat(join(mountPoint, 'gone'))).rejects.toThrow(/ENOENT/);
      await expect(stat(join(mountPoint, 'note'))).rejects.toThrow(/ENOENT/);
    });
  });
});

/** s3fs has its own variable names. */
function accessKey(store: ClientStore): Record<string, string> {
  return { AWSACCESSKEYID: store.accessKeyId, AWSSECRETACCESSKEY: store.secretAccessKey, ...store.environment };
}
