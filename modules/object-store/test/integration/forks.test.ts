import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type RunningManagement } from '../support/running-management.ts';

describe('forks of buckets in the management API', () => {
  let management: RunningManagement;
  beforeEach(async () => {
    management = await startManagement({ trash_grace_seconds: 0 });
    await call('POST', '/buckets', { name: 'photos' });
  });
  afterEach(() => management.close());

  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    management.call(method, path, body === undefined ? {} : { body });
  const put = (bucket: string, key: string, content: string) =>
    call('PUT', `/buckets/${bucket}/objects/content?key=${key}`, Buffer.from(content));
  const read = async (bucket: string, key: string) =>
    (await call('GET', `/buckets/${bucket}/objects/download?key=${key}`)).text;
  const large = 'x'.repeat(100_000);
  const check = async () => {
    const report = await management.store.module.fsck();
    expect(report).toMatchObject({ clean: true });
    return report;
  };

  it('share the bytes, encrypted too, and then go separate ways', async () => {
    await put('photos', 'small', 'one');
    await put('photos', 'large', large);
    const forked = await call('POST', '/buckets/photos/fork', { name: 'Branch 1' });
    expect(forked).toMatchObject({
      status: 201,
      body: { data: { name: 'branch-1', source: 'photos', state: 'ready', object_count: 2, copied_count: 2 } },
    });
    expect((await call('GET', '/buckets/branch-1/fork')).body.data).toEqual(forked.body.data);
    expect((await check()).blobsFound).toBe(1);
    expect([await read('branch-1', 'small'), await read('branch-1', 'large')]).toEqual(['one', large]);
    await put('branch-1', 'small', 'fork');
    await put('photos', 'large', 'origin');
    expect([await read('photos', 'small'), await read('branch-1', 'small')]).toEqual(['one', 'fork']);
    await management.clock.advance(60_000);
    await management.store.module.maintain();
    expect([await read('photos', 'large'), await read('branch-1', 'large')]).toEqual(['origin', large]);
    await call('DELETE', '/buckets/branch-1/objects?key=large');
    await management.clock.advance(60_000);
    await management.store.module.maintain();
    expect((await check()).blobsFound).toBe(0);
  });

  it('of sandboxes are deleted by name, complete or not, and nothing else is', async () => {
    await put('photos', 'a', 'a');
    const { folders } = management.store.module;
    const { workspaceUuid } = management.owner;
    const named = (bucketName: string, sourceName = 'photos') => ({ workspaceUuid, bucketName, sourceName });
    const bucketId = (await folders.find(workspaceUuid, 'photos')) ?? 0;
    const name = folders.forkName('photos');
    expect(name).toMatch(/^photos-fork-[a-z0-9]{8}$/);
    const signal = AbortSignal.timeout(60_000);
    const made = await folders.fork(
      { workspaceUuid, bucketName: 'photos', bucketId },
      { name, waitMs: 60_000, signal },
    );
    expect(made.bucketName).toBe(name);
    expect(await folders.discardFork(named('photos'))).toBe(false);
    expect(await folders.discardFork(named(name, 'other'))).toBe(false);
    expect(await folders.discardFork({ ...named(name), workspaceUuid: 'another' })).toBe(false);
    expect(await folders.discardFork(named(name))).toBe(true);
    expect(await folders.discardFork(named(name))).toBe(false);
    expect(await folders.find(workspaceUuid, name)).toBeNull();
    await call('POST', '/buckets/photos/fork?wait_ms=0', { name: 'incomplete' });
    expect(await folders.discardFork(named('incomplete'))).toBe(true);
    expect(await call('GET', '/buckets/incomplete/fork')).toMatchObject({ status: 404 });
    expect(await folders.find(workspaceUuid, 'photos')).toBe(bucketId);
  });

  it('get a name of their own by default', async () => {
    const { data } = (await call('POST', '/buckets/photos/fork')).body;
    expect(data['name']).toMatch(/^photos-fork-[a-z0-9]{8}$/);
    const long = 'a'.repeat(63);
    await call('POST', '/buckets', { name: long });
    expect((await call('POST', `/buckets/${long}/fork`)).body.data['name']).toMatch(/^a{49}-fork-[a-z0-9]{8}$/);
  });

  it('continue in the background, and can be canceled', async () => {
    for (const key of ['a', 'b', 'c']) await put('photos', key, key);
    const begun = await call('POST', '/buckets/photos/fork?wait_ms=0', { name: 'later' });
    expect(begun).toMatchObject({
      status: 202,
      body: { data: { state: 'forking', finished_at: null, copied_count: 0 } },
    });
    expect(await call('GET', '/buckets/later/objects')).toMatchObject({ status: 404 });
    expect(await call('POST', '/buckets', { name: 'later' })).toMatchObject({ status: 409 });
    await management.store.module.maintain();
    expect((await call('GET', '/buckets/later/fork')).body.data).toMatchObject({ state: 'ready', copied_count: 3 });
    expect(await read('later', 'b')).toBe('b');
    await call('POST', '/buckets/photos/fork?wait_ms=0', { name: 'never' });
    expect(await call('DELETE', '/buckets/never')).toMatchObject({ status: 200, body: { data: { state: 'deleted' } } });
    await management.store.module.maintain();
    expect(await call('GET', '/buckets/never/fork')).toMatchObject({ status: 404 });
    expect(await call('POST', '/buckets', { name: 'never' })).toMatchObject({ status: 201 });
    await check();
  });

  it('are private, without the settings of their source, except versioning and encryption', async () => {
    await put('photos', 'a', 'a');
    await call('PUT', '/buckets/photos/settings', { publicDefault: true, quota: { max_objects: 1 } });
    await call('PUT', '/buckets/photos/versioning', { status: 'enabled' });
    await call('POST', '/buckets/photos/fork', { name: 'private' });
    expect((await call('GET', '/buckets/private/settings')).body.data).toMatchObject({
      publicDefault: false,
      quota: { max_objects: null },
    });
    expect((await call('GET', '/buckets/private/versioning')).body.data).toMatchObject({ status: 'enabled' });
  });

  it('refuse what the caller may not read or has no room for, and what is not theirs', async () => {
    const { access } = management;
    const stranger = access.user('stranger');
    const foreign = await management.call('POST', '/buckets/photos/fork', {
      as: stranger,
      workspace: stranger.workspaceUuid,
    });
    expect(foreign).toMatchObject({ status: 404, body: { data: { code: 'NoSuchBucket' } } });
    const seen = { as: stranger, workspace: stranger.workspaceUuid };
    expect(await management.call('GET', '/buckets/photos/fork', seen)).toMatchObject({ status: 404 });
    expect(await call('POST', '/buckets/photos/fork', { name: 'photos' })).toMatchObject({ status: 409 });
    expect(await call('POST', '/buckets/absent/fork')).toMatchObject({ status: 404 });
    expect(await call('GET', '/buckets/photos/fork')).toMatchObject({ status: 404 });
    expect(await call('POST', '/buckets/photos/fork', { name: 'x' })).toMatchObject({ status: 400 });
  });
});
