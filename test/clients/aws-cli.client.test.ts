import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from './client-store.ts';
import { digestOf, makeTree, readTree, type Tree } from './tree.ts';

const MiB = 1024 * 1024;

describeRequiring(['command:aws'], 'the aws command', () => {
  let store: ClientStore;
  let source: string;
  let tree: Tree;
  beforeAll(async () => {
    store = await startClientStore();
    source = join(store.folder, 'source');
    tree = await makeTree(source);
  });
  afterAll(async () => store.stop());

  const aws = (...args: string[]): Promise<string> => store.run('aws', ['--endpoint-url', store.endpoint, ...args]);
  const api = async <Answer>(operation: string, ...args: string[]): Promise<Answer> => {
    const output = await aws('s3api', operation, ...args);
    return JSON.parse(output === '' ? '{}' : output) as Answer; // the documented output of the command
  };
  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(store.folder, name);
    await writeFile(path, content);
    return path;
  };

  it('syncs a tree both ways, transfers only changes, and deletes extraneous files', async () => {
    await aws('s3', 'mb', 's3://aws-tree');
    const sync = (...args: string[]) => aws('s3', 'sync', '--no-progress', ...args);
    await sync(source, 's3://aws-tree/tree');
    const listing = await aws('s3', 'ls', 's3://aws-tree/tree/', '--recursive');
    expect(listing.trim().split('\n')).toHaveLength(Object.keys(tree).length);
    const target = join(store.folder, 'target');
    await sync('s3://aws-tree/tree', target);
    expect(await readTree(target)).toEqual(tree);

    await writeFile(join(source, 'one byte'), 'more bytes now');
    await rm(join(source, 'empty'));
    const lines = (await sync(source, 's3://aws-tree/tree', '--delete')).trim().split('\n');
    expect(new Set(lines.map((line) => line.split(':')[0]))).toEqual(new Set(['delete', 'upload']));
    expect(lines).toHaveLength(2);
    expect(await sync(source, 's3://aws-tree/tree', '--delete', '--dryrun')).toBe('');
  });

  it('copies and moves on the server, including objects larger than a part', async () => {
    await aws('s3', 'mb', 's3://aws-copies');
    const large = join(source, 'parts/many parts.bin');
    await aws('s3', 'cp', large, 's3://aws-copies/from', '--no-progress', '--metadata', 'colour=green');
    await aws('s3', 'cp', 's3://aws-copies/from', 's3://aws-copies/copy', '--no-progress');
    await aws('s3', 'mv', 's3://aws-copies/copy', 's3://aws-copies/moved', '--no-progress');
    const received = join(store.folder, 'moved');
    await aws('s3', 'cp', 's3://aws-copies/moved', received, '--no-progress');
    expect(await digestOf(received)).toBe(await digestOf(large));
    const names = await api<{ Contents: { Key: string }[] }>('list-objects-v2', '--bucket', 'aws-copies');
    expect(names.Contents.map(({ Key }) => Key)).toEqual(['from', 'moved']);
  });

  it('presigns a URL that anyone can read until it expires', async () => {
    const path = await file('signed', 'for everybody who has the link');
    await aws('s3', 'mb', 's3://aws-links');
    await aws('s3', 'cp', path, 's3://aws-links/a b/ü.txt', '--no-progress');
    const url = (await aws('s3', 'presign', 's3://aws-links/a b/ü.txt', '--expires-in', '60')).trim();
    expect(await (await fetch(url)).text()).toBe('for everybody who has the link');
    expect((await fetch(`${url}0`)).status).toBe(403);
    expect((await fetch(url.split('?')[0] ?? '')).status).toBe(403);
  });

  it('uploads in parts, reports a corrupt part, and reads single parts', async () => {
    const target = ['--bucket', 'aws-parts', '--key', 'whole'];
    await api('create-bucket', '--bucket', 'aws-parts');
    const { UploadId } = await api<{ UploadId: string }>('create-multipart-upload', ...target);
    const upload = [...target, '--upload-id', UploadId];
    const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB + 3), randomBytes(9)];
    const done: { PartNumber: number; ETag: string }[] = [];
    for (const [index, bytes] of parts.entries()) {
      const path = await file(`part-${index}`, bytes);
      const number = String(index + 1);
      const { ETag } = await api<{ ETag: string }>('upload-part', ...upload, '--part-number', number, '--body', path);
      done.push({ PartNumber: index + 1, ETag });
    }
    const listed = await api<{ Parts: { Size: number }[] }>('list-parts', ...upload);
    expect(listed.Parts.map(({ Size }) => Size)).toEqual(parts.map((part) => part.length));
    const complete = (chosen: unknown[]) =>
      api<{ ETag: string }>(
        'complete-multipart-upload',
        ...upload,
        '--multipart-upload',
        JSON.stringify({ Parts: chosen }),
      );
    await expect(complete([{ PartNumber: 4, ETag: '"0"' }])).rejects.toThrow(/InvalidPart/);
    await expect(complete(done.toReversed())).rejects.toThrow(/InvalidPartOrder/);
    expect((await complete(done)).ETag).toMatch(/-3"$/);
    const path = join(store.folder, 'second');
    await api('get-object', ...target, '--part-number', '2', path);
    expect((await readFile(path)).equals(parts[1] ?? Buffer.alloc(0))).toBe(true);
    await api('get-object', ...target, path);
    expect((await readFile(path)).equals(Buffer.concat(parts))).toBe(true);
  });

  it('keeps versions, reads an old one, restores by deleting the marker, and empties the bucket', async () => {
    const target = ['--bucket', 'aws-versions', '--key', 'note'];
    await api('create-bucket', '--bucket', 'aws-versions');
    await api('put-bucket-versioning', '--bucket', 'aws-versions', '--versioning-configuration', 'Status=Enabled');
    const put = async (text: string) =>
      (await api<{ VersionId: string }>('put-object', ...target, '--body', await file('note', text))).VersionId;
    const [first, second] = [await put('first'), await put('second')];
    const { VersionId: marker } = await api<{ VersionId: string }>('delete-object', ...target);
    const path = join(store.folder, 'version');
    await expect(api('get-object', ...target, path)).rejects.toThrow(/NoSuchKey/);
    await api('get-object', ...target, '--version-id', first, path);
    expect(await readFile(path, 'utf8')).toBe('first');
    await api('delete-object', ...target, '--version-id', marker);
    await api('get-object', ...target, path);
    expect(await readFile(path, 'utf8')).toBe('second');
    const listed = await api<{ Versions: { VersionId: string; IsLatest: boolean }[] }>(
      'list-object-versions',
      '--bucket',
      'aws-versions',
    );
    expect(listed.Versions.map(({ VersionId, IsLatest }) => [VersionId, IsLatest])).toEqual([
      [second, true],
      [first, false],
    ]);
    for (const version of [first, second]) await api('delete-object', ...target, '--version-id', version);
    await api('delete-bucket', '--bucket', 'aws-versions');
    await expect(api('head-bucket', '--bucket', 'aws-versions')).rejects.toThrow(/404/);
  });
});
