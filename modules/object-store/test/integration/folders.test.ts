import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BucketFolder } from '../../src/routes/folders/folder-place.ts';
import { startStore, type RunningStore } from '../support/running-store.ts';
import { sdkClient } from '../support/s3-client.ts';

const WORKSPACE = '00000000-0000-4000-8000-000000000001';
const MIB = 1024 * 1024;

/** What the program of a mount asks for, over a real connection. */
describe('a bucket as a folder', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let client: S3Client;
  let server: Server;
  let url: string;
  let bucket: string;
  let place: BucketFolder;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path);
    client = sdkClient(store, await store.createKey({ workspaceUuid: WORKSPACE, permissions: ['read', 'write'] }));
    server = createServer((request, response) => void store.module.folders.serve(place, request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // of a TCP listener
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    client.destroy();
    await store.close();
    await folder.remove();
  });
  beforeEach(async () => {
    bucket = `folder-${randomBytes(6).toString('hex')}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    const bucketId = (await store.module.folders.find(WORKSPACE, bucket)) ?? 0;
    place = {
      workspaceUuid: WORKSPACE,
      bucketName: bucket,
      bucketId,
      prefix: 'home/',
      readOnly: false,
      principalId: 'someone',
    };
  });

  const put = (key: string, text: string) =>
    client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text, ContentType: 'text/css' }));
  const ask = async (method: string, op: string, query: Record<string, string>, options: AskOptions = {}) => {
    const { body, headers = {} } = options;
    const response = await fetch(`${url}/${op}?${new URLSearchParams(query).toString()}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return response.headers.get('content-type') === 'application/json' ? response.json() : response.text();
  };
  interface AskOptions {
    body?: string | Buffer<ArrayBuffer>;
    headers?: Record<string, string>;
  }
  const metadata = (given: object) => ({ 'x-metadata': Buffer.from(JSON.stringify(given)).toString('base64') });
  const names = async (path: string): Promise<string[]> =>
    ((await ask('GET', 'list', { path, after: '' })) as { entries: { name: string }[] }).entries.map(
      ({ name }) => name,
    );
  const read = (path: string, etag: string) => ask('GET', 'read', { path }, { headers: { 'if-match': `"${etag}"` } });

  it('reads back what was written, with attributes, and keeps the type of what it replaces', async () => {
    await put('home/style', 'before');
    const headers = metadata({ mode: '33188', uid: '5', gid: 'no number', mtime: '1.5', other: 'x' });
    const written = await ask('PUT', 'write', { path: 'style' }, { body: 'after', headers });
    expect(written).toMatchObject({ kind: 'file', size: 5, metadata: { mode: '33188', uid: '5', mtime: '1.5' } });
    expect(await ask('GET', 'stat', { path: 'style' })).toEqual(written);
    expect(await read('style', (written as { etag: string }).etag)).toBe('after');
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'home/style' }));
    expect(head).toMatchObject({ ContentType: 'text/css', Metadata: { mode: '33188', uid: '5', mtime: '1.5' } });
    expect(await read('style', 'another')).toEqual({ errno: 'ESTALE' });
  });

  it.each(['../other', 'a/../../other', '/other', 'a//b', '.', '', 'a/'])(
    'never leaves its prefix (%s)',
    async (path) => {
      await put('other', 'secret');
      await put('homeless', 'secret');
      const written = await ask('PUT', 'write', { path }, { body: 'x' });
      expect(written).toEqual({ errno: path === '' ? 'EISDIR' : 'ENOENT' });
      expect(await ask('GET', 'read', { path }, { headers: { 'if-match': '*' } })).toHaveProperty('errno');
      expect(await ask('POST', 'rename', { from: path, to: 'stolen' })).toHaveProperty('errno');
      expect(await ask('GET', 'list', { path: '', after: 'homeless' })).toEqual({ errno: 'EINVAL' });
      expect(await names('')).toEqual([]);
    },
  );

  it('makes nothing public that it writes or renames, since that needs the right to configure the bucket', async () => {
    const admin = sdkClient(store, await store.createKey({ workspaceUuid: WORKSPACE, permissions: ['read', 'admin'] }));
    const publish = (key: string) =>
      admin.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: 'shared', ACL: 'public-read' }));
    const status = async (key: string): Promise<number> =>
      (await fetch(`${store.endpoint}/${bucket}/${key}`, { method: 'HEAD' })).status;
    for (const key of ['home/written', 'home/appended', 'home/renamed', 'home/touched', 'home/tree/file']) {
      await publish(key);
      expect([key, await status(key)]).toEqual([key, 200]);
    }
    admin.destroy();
    await ask('PUT', 'write', { path: 'written' }, { body: 'secret' });
    const { etag } = (await ask('GET', 'stat', { path: 'appended' })) as { etag: string };
    await ask('PUT', 'append', { path: 'appended', keep: '6' }, { body: '!', headers: { 'if-match': `"${etag}"` } });
    await ask('POST', 'rename', { from: 'renamed', to: 'moved' });
    await ask('POST', 'rename', { from: 'tree', to: 'wood' });
    await ask('POST', 'attributes', { path: 'touched' }, { headers: metadata({ mtime: '2' }) });
    for (const key of ['written', 'appended', 'moved', 'wood/file']) {
      expect([key, await ask('GET', 'stat', { path: key })]).toMatchObject([key, { kind: 'file' }]);
      expect([key, await status(`home/${key}`)]).toEqual([key, 403]);
    }
    expect(await status('home/touched')).toBe(200); // the same bytes in the same place
  });

  it('refuses every change of a read-only folder', async () => {
    await put('home/a', 'a');
    place = { ...place, readOnly: true };
    const changes = [
      ask('PUT', 'write', { path: 'a' }, { body: 'x' }),
      ask('PUT', 'append', { path: 'a', keep: '0' }, { body: 'x' }),
      ask('PUT', 'folder', { path: 'f' }),
      ask('POST', 'attributes', { path: 'a' }),
      ask('POST', 'rename', { from: 'a', to: 'b' }),
      ask('DELETE', 'remove', { path: 'a', kind: 'file' }),
    ];
    expect(await Promise.all(changes)).toEqual(changes.map(() => ({ errno: 'EROFS' })));
    expect(await names('')).toEqual(['a']);
  });

  it('is empty for other workspaces and other buckets of the same name', async () => {
    const own = place;
    for (const other of [{ workspaceUuid: '00000000-0000-4000-8000-000000000002' }, { bucketId: own.bucketId + 1 }]) {
      place = { ...own, ...other };
      expect(await store.module.folders.exists(place)).toBe(false);
      expect(await ask('GET', 'list', { path: '', after: '' })).toEqual({ errno: 'EIO' });
      expect(await ask('PUT', 'write', { path: 'a' }, { body: 'x' })).toEqual({ errno: 'EIO' });
    }
  });

  it('hides keys that are no paths, and folders behind files', async () => {
    for (const key of ['a', 'a/hidden', 'b/c', 'x//y', '../up', './dot', 'n'.repeat(256)])
      await put(`home/${key}`, key);
    await put('home//z', 'z');
    expect(await names('')).toEqual(['a', 'b', 'x']);
    expect(await names('x')).toEqual([]);
    expect(await ask('GET', 'stat', { path: 'a' })).toMatchObject({ kind: 'file' });
    expect(await ask('GET', 'stat', { path: 'b' })).toMatchObject({ kind: 'folder' });
    expect(await ask('GET', 'stat', { path: 'missing' })).toEqual({ errno: 'ENOENT' });
  });

  it('lists page by page, in order and without repetition', async () => {
    const keys = Array.from({ length: 1_500 }, (_, index) => `k${String(index).padStart(5, '0')}`);
    for (let at = 0; at < keys.length; at += 50) {
      await Promise.all(
        keys.slice(at, at + 50).map((key) => ask('PUT', 'write', { path: `many/${key}` }, { body: key })),
      );
    }
    const found: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const page = (await ask('GET', 'list', { path: 'many', after })) as Page;
      found.push(...page.entries.map(({ name }) => name));
      after = page.next;
    }
    expect(found).toEqual(keys);
  });
  interface Page {
    entries: { name: string }[];
    next: string | null;
  }

  it('keeps folders until they are removed, and removes only empty ones', async () => {
    await put('home/implied/file', 'x');
    expect(await ask('PUT', 'folder', { path: 'implied' })).toEqual({ errno: 'EEXIST' });
    expect(await ask('DELETE', 'remove', { path: 'implied', kind: 'folder' })).toEqual({ errno: 'ENOTEMPTY' });
    expect(await ask('DELETE', 'remove', { path: 'implied/file', kind: 'file' })).toEqual({});
    expect(await names('')).toEqual(['implied']);
    expect(await ask('DELETE', 'remove', { path: 'implied', kind: 'folder' })).toEqual({});
    expect(await ask('DELETE', 'remove', { path: 'implied', kind: 'folder' })).toEqual({ errno: 'ENOENT' });
    expect(await names('')).toEqual([]);
  });

  it('stops the rename of a folder whose connection is cut', async () => {
    for (const name of ['one', 'two']) await put(`home/old/${name}`, name);
    const served = Promise.withResolvers<void>();
    const cutting = createServer((request, response) => {
      store.module.folders.serve(place, request, response).then(served.resolve, served.reject);
      response.destroy();
    });
    await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
    const { port } = cutting.address() as AddressInfo; // of a TCP listener
    await expect(fetch(`http://127.0.0.1:${port}/rename?from=old&to=new`, { method: 'POST' })).rejects.toThrow();
    await served.promise;
    expect(await names('old')).toEqual(['one', 'two']);
    expect(await names('')).toEqual(['old']);
    cutting.close();
  });

  it('stores nothing whose connection is cut after its body has arrived', async () => {
    await put('home/file', 'before');
    const { etag } = (await ask('GET', 'stat', { path: 'file' })) as { etag: string };
    const served: Promise<void>[] = [];
    const cutting = createServer((request, response) => {
      request.once('end', () => response.destroy());
      served.push(store.module.folders.serve(place, request, response));
    });
    await new Promise<void>((resolve) => cutting.listen(0, '127.0.0.1', resolve));
    const { port } = cutting.address() as AddressInfo; // of a TCP listener
    const send = (path: string, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}/${path}`, { method: 'PUT', body: 'after', headers });
    await expect(send('write?path=file')).rejects.toThrow();
    await expect(send('write?path=new')).rejects.toThrow();
    await expect(send('append?path=file&keep=6', { 'if-match': `"${etag}"` })).rejects.toThrow();
    await Promise.all(served);
    expect(served).toHaveLength(3);
    expect(await names('')).toEqual(['file']);
    expect(await read('file', etag)).toBe('before');
    cutting.close();
  });

  it('renames files over files, and folders with all that they contain', async () => {
    for (const key of ['a', 'b', 'from/one', 'from/deep/two', 'full/x']) await put(`home/${key}`, key);
    const rename = (from: string, to: string, more: object = {}) => ask('POST', 'rename', { from, to, ...more });
    expect(await rename('a', 'b', { new: '1' })).toEqual({ errno: 'EEXIST' });
    expect(await rename('a', 'b')).toEqual({});
    const b = (await ask('GET', 'stat', { path: 'b' })) as { etag: string };
    expect(await read('b', b.etag)).toBe('a');
    expect(await rename('a', 'c')).toEqual({ errno: 'ENOENT' });
    expect(await rename('b', 'full')).toEqual({ errno: 'EISDIR' });
    expect(await rename('from', 'b')).toEqual({ errno: 'ENOTDIR' });
    expect(await rename('from', 'full')).toEqual({ errno: 'ENOTEMPTY' });
    expect(await rename('from', 'from/inside')).toEqual({ errno: 'EINVAL' });
    expect(await rename('from', 'to')).toEqual({});
    expect([await names(''), await names('to'), await names('to/deep')]).toEqual([
      ['b', 'full', 'to'],
      ['deep', 'one'],
      ['two'],
    ]);
  });

  it('fails a write beyond the quota of the bucket, and keeps what was there', async () => {
    await put('home/file', 'before');
    const { bucketId } = place;
    const document = JSON.stringify({ quota: { maxBytes: 10 } });
    await store.metadata.putBucketDocument({ bucketId, name: 'settings', document, nowMs: Date.now() });
    expect(await ask('PUT', 'write', { path: 'file' }, { body: 'far too much' })).toEqual({ errno: 'EDQUOT' });
    const { etag } = (await ask('GET', 'stat', { path: 'file' })) as { etag: string };
    expect(await read('file', etag)).toBe('before');
  });

  it('appends without rewriting large parts, again and again, and to the version it names only', async () => {
    const base = randomBytes(6 * MIB);
    let entry = (await ask('PUT', 'write', { path: 'log' }, { body: base })) as { etag: string; size: number };
    let expected: Buffer = base;
    for (const tail of ['one', 'two', 'three']) {
      const headers = { 'if-match': `"${entry.etag}"`, ...metadata({ mode: '33188' }) };
      const query = { path: 'log', keep: String(expected.length) };
      const stale = entry.etag;
      entry = (await ask('PUT', 'append', query, { body: tail, headers })) as typeof entry;
      expected = Buffer.concat([expected, Buffer.from(tail)]);
      expect(entry.size).toBe(expected.length);
      const again = { 'if-match': `"${stale}"` };
      expect(await ask('PUT', 'append', query, { body: 'x', headers: again })).toEqual({ errno: 'ESTALE' });
    }
    const response = await fetch(`${url}/read?path=log`, { headers: { 'if-match': `"${entry.etag}"` } });
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  });
});
