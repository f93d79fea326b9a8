import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, digestOfBytes, makeTree, readTree, type Tree } from '../clients/tree.ts';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface ListedObject {
  key: string;
  size: number;
}

interface Summary {
  done: number;
  deleted: number;
  skipped: number;
  failed: number;
  bytes: number;
  failures: { name: string; message: string }[];
}

describe('svc object', () => {
  let store: CommandStore;
  let svc: CommandLine;
  let source: string;
  let tree: Tree;
  beforeAll(async () => {
    store = await startCommandStore();
    svc = store.svc;
    source = join(store.folder, 'source');
    tree = await makeTree(source);
  });
  afterAll(async () => store[Symbol.asyncDispose]());

  const bucketOf = async (name: string): Promise<string> => {
    await svc.answer(['bucket', 'create', name]);
    return `svc://${name}`;
  };
  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(store.folder, name);
    await writeFile(path, content);
    return path;
  };
  const keys = async (location: string): Promise<string[]> =>
    (await svc.lines<ListedObject>(['object', 'ls', '-r', location])).map(({ key }) => key);

  it('uploads a file, reports what it stored, and downloads it with its modification time', async () => {
    const bucket = await bucketOf('one-file');
    const path = await file('note.md', '# A note');
    await svc.answer([
      'object',
      'cp',
      path,
      `${bucket}/notes/`,
      '--metadata',
      'colour=green',
      '--cache-control',
      'no-cache',
    ]);
    expect(await keys(bucket)).toEqual(['notes/note.md']);
    expect(await svc.json(['object', 'stat', `${bucket}/notes/note.md`])).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'content-length': '8',
      'cache-control': 'no-cache',
      'x-amz-meta-colour': 'green',
    });
    const target = join(store.folder, 'note again.md');
    await svc.answer(['object', 'cp', `${bucket}/notes/note.md`, target]);
    expect(await readFile(target, 'utf8')).toBe('# A note');
    const [listed] = await svc.lines<{ last_modified: string }>(['object', 'ls', `${bucket}/notes/`]);
    expect((await stat(target)).mtimeMs).toBe(Math.floor(Date.parse(listed?.last_modified ?? '') / 1000) * 1000);
  });

  it('syncs a tree both ways, and a second sync transfers nothing', async () => {
    const bucket = await bucketOf('whole-tree');
    const sync = (...args: string[]) => svc.json<Summary>(['object', 'sync', ...args, '--part-size', '5']);
    expect(await sync(source, `${bucket}/tree`)).toMatchObject({ done: Object.keys(tree).length, failed: 0 });
    expect(await keys(`${bucket}/tree/`)).toEqual(
      Object.keys(tree)
        .map((name) => `tree/${name}`)
        .toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
    );
    const target = join(store.folder, 'tree again');
    expect(await sync(`${bucket}/tree`, target)).toMatchObject({ done: Object.keys(tree).length, failed: 0 });
    expect(await readTree(target)).toEqual(tree);
    const nothing = { done: 0, deleted: 0, failed: 0, skipped: Object.keys(tree).length };
    expect(await sync(`${bucket}/tree`, target, '--delete')).toMatchObject(nothing);
    expect(await sync(source, `${bucket}/tree`, '--delete')).toMatchObject(nothing);
  });

  it('uploads changes, deletes only with --delete, and supports a dry run', async () => {
    const bucket = await bucketOf('changing');
    const folder = join(store.folder, 'changing');
    await mkdir(folder);
    for (const name of ['kept', 'longer', 'newer', 'gone', 'gone.tmp']) await writeFile(join(folder, name), name);
    await svc.answer(['object', 'sync', folder, bucket]);
    await writeFile(join(folder, 'longer'), 'longer than before');
    await writeFile(join(folder, 'newer'), 'NEWER');
    const later = new Date(Date.now() + 60_000);
    await utimes(join(folder, 'newer'), later, later);
    await rm(join(folder, 'gone'));
    await rm(join(folder, 'gone.tmp'));
    const sync = ['object', 'sync', folder, bucket, '--delete', '--exclude', '*.tmp'];
    const planned = await svc.answer([...sync, '--dry-run']);
    expect(
      planned
        .match(/\(dry run\) \w+: \S+/g)
        ?.map((line) => line.split('/').at(-1))
        .toSorted(),
    ).toEqual(['gone', 'longer', 'newer']);
    expect(await keys(bucket)).toContain('gone');
    expect(await svc.json<Summary>(sync)).toMatchObject({ done: 2, deleted: 1, skipped: 1, failed: 0 });
    expect(await keys(bucket)).toEqual(['gone.tmp', 'kept', 'longer', 'newer']);
    expect(await svc.answer(['object', 'cat', `${bucket}/newer`])).toBe('NEWER');
  });

  it('filters a folder by patterns', async () => {
    const bucket = await bucketOf('patterns');
    const copy = ['object', 'cp', '-r', source, `${bucket}/some`, '--exclude', '*', '--include', 'inline/*'];
    await svc.answer([...copy, '--exclude', '*border*']);
    expect(await keys(bucket)).toEqual(['some/inline/above.bin', 'some/inline/below.bin']);
  });

  it('copies and moves on the server, and moves local files to a bucket', async () => {
    const bucket = await bucketOf('moving');
    const path = await file('to be moved', 'moved bytes');
    await svc.answer(['object', 'mv', path, `${bucket}/a`]);
    expect(existsSync(path)).toBe(false);
    await svc.answer(['object', 'cp', `${bucket}/a`, `${bucket}/folder/b`]);
    await svc.answer(['object', 'mv', `${bucket}/a`, `${bucket}/folder/c`]);
    expect(await keys(bucket)).toEqual(['folder/b', 'folder/c']);
    await svc.answer(['object', 'mv', '-r', `${bucket}/folder`, `${bucket}/elsewhere`]);
    expect(await keys(bucket)).toEqual(['elsewhere/b', 'elsewhere/c']);
    const itself = await svc.run(['object', 'mv', `${bucket}/elsewhere/b`, `${bucket}/elsewhere/b`]);
    expect(itself).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('the same') });
    expect(await keys(bucket)).toEqual(['elsewhere/b', 'elsewhere/c']);
  });

  it('reads from a pipe in parts and writes to a pipe', async () => {
    const bucket = await bucketOf('pipes');
    const bytes = randomBytes(12 * 1024 * 1024 + 5);
    await svc.answer(['object', 'cp', '-', `${bucket}/large`, '--part-size', '5'], { input: bytes });
    await svc.answer(['object', 'cp', '-', `${bucket}/empty`], { input: '' });
    const { stdout, exitCode } = await svc.run(['object', 'cp', `${bucket}/large`, '-']);
    expect([exitCode, digestOfBytes(stdout)]).toEqual([0, digestOfBytes(bytes)]);
    expect(await svc.json(['object', 'stat', `${bucket}/large`])).toMatchObject({
      etag: expect.stringContaining('-3'),
    });
    expect(await svc.answer(['object', 'cat', `${bucket}/empty`])).toBe('');
  });

  it('presigns a URL for one method and one object', async () => {
    const bucket = await bucketOf('links');
    const { url: put } = await svc.json<{ url: string }>(['object', 'presign', `${bucket}/a b/ü`, '--method', 'PUT']);
    expect((await fetch(put, { method: 'PUT', body: 'from anybody' })).status).toBe(200);
    const { url } = await svc.json<{ url: string }>(['object', 'presign', `${bucket}/a b/ü`, '--expires', '7d']);
    expect(await (await fetch(url)).text()).toBe('from anybody');
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    expect((await fetch(url.replace('a%20b', 'b'))).status).toBe(403);
    expect(await svc.run(['object', 'presign', `${bucket}/a`, '--expires', '8d'])).toMatchObject({ exitCode: 2 });
  });

  it('lists, reads, restores and deletes versions', async () => {
    const bucket = await bucketOf('history');
    await svc.answer(['bucket', 'versioning', 'history', 'enabled']);
    for (const text of ['first', 'second']) await svc.answer(['object', 'cp', '-', `${bucket}/key`], { input: text });
    await svc.answer(['object', 'rm', `${bucket}/key`]);
    const list = () =>
      svc.lines<{ version_id: string; is_delete_marker: boolean; is_latest: boolean; size: number }>([
        'object',
        'ls',
        '--versions',
        `${bucket}/`,
      ]);
    const versions = await list();
    expect(versions.map((each) => [each.is_delete_marker, each.is_latest, each.size])).toEqual([
      [true, true, 0],
      [false, false, 6],
      [false, false, 5],
    ]);
    const [, , first] = versions;
    const oldest = ['--version-id', first?.version_id ?? ''];
    expect(await svc.answer(['object', 'cat', `${bucket}/key`, ...oldest])).toBe('first');
    expect(await svc.run(['object', 'cat', `${bucket}/key`])).toMatchObject({ exitCode: 1 });
    await svc.answer(['object', 'cp', `${bucket}/key`, `${bucket}/key`, ...oldest]);
    expect(await svc.answer(['object', 'cat', `${bucket}/key`])).toBe('first');
    await svc.answer(['object', 'rm', `${bucket}/key`, ...oldest]);
    expect(await list()).toHaveLength(3);
    await svc.answer(['object', 'rm', '-r', '--all-versions', bucket]);
    expect(await list()).toEqual([]);
  });

  it('deletes by prefix, and distinguishes a mistyped name from an existing one', async () => {
    const bucket = await bucketOf('deleting');
    for (const key of ['a/1', 'a/2', 'ab', 'b'])
      await svc.answer(['object', 'cp', '-', `${bucket}/${key}`], { input: key });
    const { exitCode, stderr } = await svc.run(['object', 'rm', `${bucket}/a`]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Object not found')]);
    expect(await svc.json<Summary>(['object', 'rm', '-r', `${bucket}/a/`])).toMatchObject({ deleted: 2 });
    await svc.answer(['object', 'rm', `${bucket}/b`]);
    expect(await keys(bucket)).toEqual(['ab']);
  });

  it('writes nothing outside the target folder, whatever the keys are', async () => {
    const bucket = await bucketOf('hostile');
    for (const key of ['../outside', 'good', '/absolute', 'a//b', 'ok/./dot']) {
      const { url } = await svc.json<{ url: string }>(['object', 'presign', `${bucket}/${key}`, '--method', 'PUT']);
      const { hostname, port } = new URL(store.platform.ready.s3_endpoint);
      await putRaw({ hostname, port }, url.slice(url.indexOf('/hostile/')), 'bytes');
    }
    const target = join(store.folder, 'inside', 'deep');
    const { exitCode, stdout } = await svc.run(['object', 'cp', '-r', bucket, target, '--json']);
    const summary = JSON.parse(stdout.toString()) as Summary;
    expect(exitCode).toBe(1);
    expect(summary).toMatchObject({ done: 1, failed: 4 });
    expect(Object.keys(await readTree(join(store.folder, 'inside')))).toEqual(['deep/good']);
  });

  it('prints errors in one line and exits with the matching code', async () => {
    const missing = await svc.run(['object', 'ls', 'svc://no-such-bucket-here']);
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^svc: .*svc bucket ls.*\n$/) });
    for (const args of [
      ['object', 'cp', 'a', 'b', 'c'],
      ['object', 'cp', '/no/such', '/neither'],
      ['object', 'sync', '/no/such/folder', 'svc://deleting'],
      ['object', 'cp', source, 'svc://deleting/'],
      ['object', 'ls', 'svc://deleting', '--colour'],
      ['object', 'cp', '-', 'svc://deleting/x', '--parallel', 'many'],
    ]) {
      const { exitCode, stderr, stdout } = await svc.run(args);
      expect([args, exitCode, stdout.length]).toEqual([args, 2, 0]);
      expect(stderr).not.toContain('    at ');
    }
    const away = await svc.run(['object', 'ls', 'svc://deleting'], { environment: { SVC_URL: 'http://127.0.0.1:9' } });
    expect(away).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cannot be reached') });
    const unknown = await svc.run(['object', 'ls', 'svc://deleting'], { environment: { SVC_TOKEN: 'svc_pat_wrong' } });
    expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('svc login') });
  });

  it('continues after failures and reports them at the end', async () => {
    const bucket = await bucketOf('partly');
    const folder = join(store.folder, 'partly');
    await mkdir(join(folder, 'sub'), { recursive: true });
    for (const name of ['a', 'sub/b', 'c']) await writeFile(join(folder, name), name);
    await svc.answer(['object', 'cp', '-r', folder, bucket]);
    const target = join(store.folder, 'partly again');
    await mkdir(target);
    await writeFile(join(target, 'sub'), 'a file where a folder is needed');
    const { exitCode, stderr } = await svc.run(['object', 'cp', '-r', bucket, target]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('a folder is needed');
    expect(Object.keys(await readTree(target)).toSorted()).toEqual(['a', 'c', 'sub']);
    expect(await digestOf(join(target, 'a'))).toBe(digestOfBytes(Buffer.from('a')));
  });

  it('hides its key and token', async () => {
    const keysFolder = join(store.home, '.config', 'svc', 'keys');
    const names = Object.keys(await readTree(keysFolder));
    expect(names).toHaveLength(1);
    const path = join(keysFolder, names[0] ?? '');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { secretAccessKey } = JSON.parse(await readFile(path, 'utf8')) as { secretAccessKey: string };
    expect(secretAccessKey).toMatch(/^tsec_/);
    const log = store.platform.log();
    expect(log).not.toContain(secretAccessKey);
    expect(log).not.toContain(store.platform.ready.token);
  });
});

/** Sends the path unchanged: `fetch` would resolve its dots. */
async function putRaw(host: { hostname: string; port: string }, path: string, body: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const outgoing = request({ ...host, path, method: 'PUT' }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode} for ${path}`)),
      );
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
