import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { makeTree, readTree, type Tree } from './tree.ts';

describeRequiring(['command:s3cmd'], 's3cmd', () => {
  let store: ClientStore;
  let source: string;
  let tree: Tree;
  beforeAll(async () => {
    store = await startClientStore();
    source = join(store.folder, 'source');
    tree = await makeTree(source);
    const settings = {
      access_key: store.accessKeyId,
      secret_key: store.secretAccessKey,
      host_base: new URL(store.endpoint).host,
      host_bucket: new URL(store.endpoint).host,
      bucket_location: store.region,
      use_https: 'False',
      multipart_chunk_size_mb: '5',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    await writeFile(join(store.folder, 's3cfg'), `[default]\n${lines.join('')}`, { mode: 0o600 });
  });
  afterAll(async () => store.stop());

  const s3cmd = (...args: string[]): Promise<string> =>
    store.run('s3cmd', ['--config', join(store.folder, 's3cfg'), '--no-progress', ...args], {
      environment: { LC_ALL: 'C.UTF-8' },
    });
  const listed = async (url: string): Promise<string[]> => {
    const lines = (await s3cmd('ls', '--recursive', url)).split('\n').filter((line) => line !== '');
    return lines.map((line) => line.slice(line.indexOf(url) + url.length)).toSorted();
  };

  it('creates a bucket, syncs a tree both ways in parts, and then has nothing left to transfer', async () => {
    await s3cmd('mb', 's3://s3cmd-tree');
    await s3cmd('sync', `${source}/`, 's3://s3cmd-tree/tree/');
    expect(await listed('s3://s3cmd-tree/tree/')).toEqual(Object.keys(tree).toSorted());
    expect(await s3cmd('sync', '--dry-run', `${source}/`, 's3://s3cmd-tree/tree/')).not.toContain('upload:');
    const target = join(store.folder, 'target');
    await mkdir(target);
    await s3cmd('sync', 's3://s3cmd-tree/tree/', `${target}/`);
    expect(await readTree(target)).toEqual(tree);
  });

  it('puts, copies, moves, describes, presigns and deletes objects', async () => {
    const file = join(store.folder, 'note.txt');
    await writeFile(file, 'written by s3cmd');
    await s3cmd('put', file, 's3://s3cmd-tree/notes/one.txt', '--add-header=x-amz-meta-colour:green');
    await s3cmd('cp', 's3://s3cmd-tree/notes/one.txt', 's3://s3cmd-tree/notes/two.txt');
    await s3cmd('mv', 's3://s3cmd-tree/notes/two.txt', 's3://s3cmd-tree/notes/three.txt');
    expect(await listed('s3://s3cmd-tree/notes/')).toEqual(['one.txt', 'three.txt']);
    expect(await s3cmd('info', 's3://s3cmd-tree/notes/three.txt')).toMatch(/x-amz-meta-colour: +green/);
    const target = join(store.folder, 'got.txt');
    await s3cmd('get', 's3://s3cmd-tree/notes/three.txt', target);
    expect(await readFile(target, 'utf8')).toBe('written by s3cmd');
    await rm(target);
    await s3cmd('del', '--recursive', '--force', 's3://s3cmd-tree/');
    expect(await s3cmd('ls', '--recursive', 's3://s3cmd-tree/')).toBe('');
    await s3cmd('rb', 's3://s3cmd-tree');
    await expect(s3cmd('ls', 's3://s3cmd-tree/')).rejects.toThrow(/does not exist/);
  });
});
