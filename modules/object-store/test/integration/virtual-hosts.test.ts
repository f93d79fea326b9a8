import { randomUUID } from 'node:crypto';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';

describe('virtual-hosted buckets', () => {
  let folder: TemporaryFolder;
  let store: RunningStore;
  let key: TestKey;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path, { config: { domains: ['s3.example.com', 'localhost'] } });
    key = await store.createKey({ workspaceUuid: randomUUID() });
    await send('s3.example.com', { method: 'PUT', target: '/photos' });
    await send('s3.example.com', { method: 'PUT', target: '/photos/a%20b/c', body: 'content' });
  });
  afterAll(async () => {
    await store.close();
    await folder.remove();
  });

  const send = (host: string, raw: RawRequest): Promise<RawAnswer> =>
    sendRaw(store.endpoint, signed(raw, { key, host }));

  it.each([
    ['photos.s3.example.com', '/a%20b/c'],
    ['photos.s3.example.com:9000', '/a%20b/c'],
    ['PHOTOS.S3.Example.COM', '/a%20b/c'],
    ['photos.localhost:8080', '/a%20b/c'],
    ['s3.example.com', '/photos/a%20b/c'],
    ['s3.example.com:443', '/photos/a%20b/c'],
    ['127.0.0.1', '/photos/a%20b/c'],
    ['[::1]:9000', '/photos/a%20b/c'],
    ['elsewhere.example.org', '/photos/a%20b/c'],
    ['nots3.example.com', '/photos/a%20b/c'],
  ])('%s%s resolves to the object', async (host, target) => {
    expect((await send(host, { target })).body.toString()).toBe('content');
  });

  it('support sub-resources, listings and uploads as path style does', async () => {
    const host = 'photos.s3.example.com';
    expect((await send(host, { target: '/?location' })).status).toBe(200);
    expect((await send(host, { target: '/?list-type=2&prefix=a' })).body.toString()).toContain('<Key>a b/c</Key>');
    expect((await send(host, { method: 'HEAD', target: '/' })).status).toBe(200);
    expect((await send(host, { method: 'PUT', target: '/photos/own', body: 'x' })).status).toBe(200);
    expect((await send('s3.example.com', { target: '/photos/photos/own' })).status).toBe(200);
  });

  it('are created and deleted by their hostname', async () => {
    const host = 'fresh.s3.example.com';
    expect(await send(host, { method: 'PUT', target: '/' })).toMatchObject({ status: 200 });
    expect(await send(host, { method: 'DELETE', target: '/' })).toMatchObject({ status: 204 });
    expect(await send(host, { target: '/' })).toMatchObject({ status: 404, code: 'NoSuchBucket' });
  });

  it('keep the slashes of keys, doubled and encoded ones included', async () => {
    const host = 'photos.s3.example.com';
    for (const target of ['//double', '/a//b', '/trailing/', '/%2Fencoded', '/..', '/a/../b', '/.']) {
      expect((await send(host, { method: 'PUT', target, body: target })).status).toBe(200);
      expect((await send('127.0.0.1', { target: `/photos${target}` })).body.toString()).toBe(target);
    }
  });

  it('refuse a signature for another host', async () => {
    const right = signed({ target: '/a%20b/c' }, { key, host: 'photos.s3.example.com' });
    const moved = { ...right, headers: { ...right.headers, host: 'other.s3.example.com' } };
    expect(await sendRaw(store.endpoint, moved)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  });

  it.each(['a.b.s3.example.com', '-x.s3.example.com', '.s3.example.com', 'under_score.s3.example.com'])(
    '%s names no bucket',
    async (host) => {
      const answer = await send(host, { target: '/' });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    },
  );
});
