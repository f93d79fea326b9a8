import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { makeTree, readTree, type Tree } from './tree.ts';

describeRequiring(['command:restic'], 'restic', () => {
  let store: ClientStore;
  let bucket: string;
  let source: string;
  let first: Tree;
  beforeAll(async () => {
    store = await startClientStore();
    bucket = await store.makeBucket();
    source = join(store.folder, 'source');
    first = await makeTree(source);
  });
  afterAll(async () => store.stop());

  const restic = (...args: string[]): Promise<string> =>
    store.run('restic', ['--no-cache', '--repo', `s3:${store.endpoint}/${bucket}/backups`, ...args], {
      environment: { RESTIC_PASSWORD: 'a password of the backup' },
    });
  const snapshots = async (): Promise<{ id: string }[]> =>
    JSON.parse(await restic('snapshots', '--json')) as { id: string }[];
  const restored = async (snapshot: string): Promise<Tree> => {
    const target = join(store.folder, `restored-${snapshot.slice(0, 8)}`);
    await restic('restore', snapshot, '--target', target, '--verify');
    return readTree(join(target, source));
  };

  it('creates a repository, backs up a tree twice, verifies all data and restores both snapshots', async () => {
    await restic('init');
    await restic('backup', source);
    await writeFile(join(source, 'added'), 'later');
    await rm(join(source, 'one byte'));
    const second = await readTree(source);
    await restic('backup', source);
    expect(await restic('check', '--read-data')).toContain('no errors were found');
    const [older, newer] = await snapshots();
    expect(await restored(older?.id ?? '')).toEqual(first);
    expect(await restored(newer?.id ?? '')).toEqual(second);
  });

  it('forgets a snapshot, prunes its unique data, and stays intact', async () => {
    await restic('forget', '--keep-last', '1', '--prune');
    expect(await restic('check', '--read-data')).toContain('no errors were found');
    expect(await snapshots()).toHaveLength(1);
    expect(await restic('list', 'locks')).toBe('');
  });
});
