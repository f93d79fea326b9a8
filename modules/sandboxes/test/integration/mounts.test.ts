import { createLogger } from '@svc/telemetry';
import type { FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MountService } from '../../src/domain/mounts/mount-service.ts';
import { FakeBuckets } from '../support/fake-buckets.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('mounts of buckets', () => {
  let driver: FakeDriver;
  let buckets: FakeBuckets;
  let platform: TestPlatform;

  beforeEach(async () => {
    driver = new FakeDriver();
    buckets = new FakeBuckets();
    platform = await startPlatform({ driver, buckets });
    buckets.ids.set(`${platform.owner.workspaceUuid}/photos`, 7);
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const create = (mounts: unknown, { caller, more = {}, query = '' }: CreateOptions = {}) =>
    platform.call('POST', `/api/sandboxes?wait_ms=10000${query}`, {
      body: { image: 'busybox', mounts, ...more },
      ...(caller === undefined ? {} : { caller }),
    });
  interface CreateOptions {
    caller?: FakeCaller;
    more?: object;
    query?: string;
  }
  const photos = { bucket: 'photos', path: '/data' };

  it('are part of the sandbox, in its answer and in the audit log, without ids and creators', async () => {
    const made = await create([photos, { ...photos, prefix: 'a/b', path: '/ro', read_only: true }]);
    expect(made).toMatchObject({ status: 201, body: { status: 'running' } });
    expect(made.body['mounts']).toEqual([
      { bucket: 'photos', prefix: '', path: '/data', read_only: false },
      { bucket: 'photos', prefix: 'a/b/', path: '/ro', read_only: true },
    ]);
    const read = await platform.call('GET', `/api/sandboxes/${made.body['id']}`);
    expect(read.body['mounts']).toEqual(made.body['mounts']);
    expect(platform.audit.entries.at(-1)).toMatchObject({
      action: 'sandbox:create',
      resource: 'bucket/photos/, bucket/photos/a/b (ro)',
    });
  });

  it.each([
    ['a bucket of another workspace', [{ bucket: 'other', path: '/data' }], 'UNKNOWN_BUCKET', 'mounts[0].bucket'],
    ['a prefix that leads elsewhere', [{ ...photos, prefix: 'a/../b' }], 'INVALID_FIELD', 'mounts[0].prefix'],
    ['a prefix that begins with a slash', [{ ...photos, prefix: '/a' }], 'INVALID_FIELD', 'mounts[0].prefix'],
    ['a relative path', [{ ...photos, path: 'data' }], 'INVALID_FIELD', 'mounts[0].path'],
    ['a path of the platform', [{ ...photos, path: '/proc/x' }], 'INVALID_FIELD', 'mounts[0].path'],
    ['overlapping paths', [photos, { ...photos, path: '/data/deep' }], 'INVALID_FIELD', 'mounts[1].path'],
  ])('refuse %s, and name the field', async (_what, mounts, code, field) => {
    buckets.ids.set(`${crypto.randomUUID()}/other`, 8);
    expect(await create(mounts)).toMatchObject({ status: 400, body: { code, details: { field } } });
  });

  it('refuse the path of a volume, too many mounts and unknown fields', async () => {
    await platform.call('POST', '/api/volumes', { body: { name: 'data' } });
    const volumes = [{ name: 'data', path: '/data' }];
    expect(await create([photos], { more: { volumes } })).toMatchObject({
      status: 400,
      body: { details: { field: 'mounts[0].path', reason: 'overlaps with /data' } },
    });
    const nine = Array.from({ length: 9 }, (_, index) => ({ ...photos, path: `/data${index}` }));
    expect((await create(nine)).status).toBe(400);
    expect((await create([{ ...photos, key: 'x' }])).status).toBe(400);
  });

  it('are refused where the driver, the host or the object store has none, by name', async () => {
    driver.noMountsReason = 'the host has no /dev/fuse';
    expect(await create([photos])).toMatchObject({
      status: 501,
      body: { code: 'MOUNTS_UNAVAILABLE', details: { reason: 'the host has no /dev/fuse', field: 'mounts' } },
    });
    driver.noMountsReason = null;
    expect(await create([photos], { more: { isolation: 'gvisor' } })).toMatchObject({
      status: 501,
      body: { code: 'MOUNTS_UNAVAILABLE', details: { reason: 'sandboxes with gVisor cannot' } },
    });
    const other = new FakeDriver();
    const bare = await startPlatform({ driver: other });
    const answer = await bare.call('POST', '/api/sandboxes', { body: { image: 'busybox', mounts: [photos] } });
    expect(answer).toMatchObject({ status: 501, body: { code: 'MOUNTS_UNAVAILABLE' } });
    await bare.dispose();
    await other.dispose();
  });

  it('need the rights of their creator: guests have none, and others none elsewhere', async () => {
    const guest = platform.access.guest();
    buckets.ids.set(`${guest.workspaceUuid}/photos`, 9);
    const asGuest = await create([photos], { caller: guest });
    expect(asGuest).toMatchObject({ status: 403, body: { code: 'MOUNTS_OF_GUESTS' } });
    const team = platform.access.team(platform.owner.workspaceUuid);
    const member = platform.access.user('member');
    platform.access.join(team, member, 'member');
    const query = `&workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    expect(await create([photos], { caller: member, query })).toMatchObject({ status: 201 });
    platform.access.leave(team, member);
    expect((await create([photos], { caller: member, query })).status).toBe(403);
    const stranger = platform.access.user('stranger');
    const foreign = await create([photos], { caller: stranger });
    expect(foreign).toMatchObject({ status: 400, body: { code: 'UNKNOWN_BUCKET' } });
  });

  it('pass to forks, whose creator must have the rights too', async () => {
    const { id } = (await create([photos])).body;
    const forked = await platform.call('POST', `/api/sandboxes/${id}/fork`, { body: {} });
    expect(forked).toMatchObject({ status: 201, body: { containers: [{ mounts: [{ forked_from: 'photos' }] }] } });
    buckets.ids.clear();
    expect(await platform.call('POST', `/api/sandboxes/${id}/fork`, { body: {} })).toMatchObject({
      status: 400,
      body: { code: 'UNKNOWN_BUCKET' },
    });
  });

  describe('of forks', () => {
    const models = { bucket: 'models', path: '/models', read_only: true };
    const names = (): string[] => [...buckets.ids.keys()].map((key) => key.split('/')[1] ?? '').toSorted();
    const fork = (id: string, body: object = {}, query = '') =>
      platform.call('POST', `/api/sandboxes/${id}/fork?wait_ms=10000${query}`, { body });
    const drop = (id: string, query = 'drop_data=true') => platform.call('DELETE', `/api/sandboxes/${id}?${query}`);
    const bucketsOf = ({ mounts }: { mounts: { bucket: string }[] }) => mounts.map(({ bucket }) => bucket);
    let id: string;
    beforeEach(async () => {
      buckets.ids.set(`${platform.owner.workspaceUuid}/models`, 8);
      ({ id } = (await create([photos, { ...photos, path: '/ro', read_only: true }, models])).body as { id: string });
    });

    it('lead to forks of the buckets that the source writes to, one for each sandbox, and share the others', async () => {
      const forked = await fork(id, { count: 2 });
      expect(forked.status).toBe(201);
      const [one, two] = forked.body['containers'];
      expect(bucketsOf(one)).toEqual(['photos-fork-102', 'photos-fork-102', 'models']);
      expect(bucketsOf(two)).toEqual(['photos-fork-103', 'photos-fork-103', 'models']);
      expect(one.mounts[0]).toEqual({
        bucket: 'photos-fork-102',
        prefix: '',
        path: '/data',
        read_only: false,
        forked_from: 'photos',
      });
      expect(one.mounts[2]).not.toHaveProperty('forked_from');
      expect((await platform.call('GET', `/api/sandboxes/${one.id}`)).body['mounts']).toEqual(one.mounts);
    });

    it('lead to the same buckets if the request says so', async () => {
      const [one] = (await fork(id, { mounts: 'share' })).body['containers'];
      expect(bucketsOf(one)).toEqual(['photos', 'photos', 'models']);
      expect((await drop(one.id)).body).toMatchObject({ deleted: true, deleted_buckets: [] });
      expect(names()).toEqual(['models', 'photos']);
      expect((await fork(id, { mounts: 'other' })).status).toBe(400);
    });

    it('keep the forks of a deleted sandbox, unless the request drops them', async () => {
      const [one, two] = (await fork(id, { count: 2 })).body['containers'];
      expect((await drop(one.id, '')).body).not.toHaveProperty('deleted_buckets');
      expect(names()).toEqual(['models', 'photos', 'photos-fork-102', 'photos-fork-103']);
      expect((await drop(two.id)).body).toMatchObject({ deleted_buckets: ['photos-fork-103'] });
      expect((await drop(id)).body).toMatchObject({ deleted_buckets: [] });
      expect(names()).toEqual(['models', 'photos', 'photos-fork-102']);
    });

    it('drop no bucket that another sandbox mounts', async () => {
      const [one] = (await fork(id)).body['containers'];
      const [shared] = (await fork(one.id, { mounts: 'share' })).body['containers'];
      const [own] = (await fork(one.id)).body['containers'];
      expect(own.mounts[0]).toMatchObject({ bucket: 'photos-fork-102-fork-103', forked_from: 'photos-fork-102' });
      expect((await drop(one.id)).body).toMatchObject({ deleted_buckets: [] });
      expect((await drop(shared.id)).body).toMatchObject({ deleted_buckets: [] });
      expect((await drop(own.id)).body).toMatchObject({ deleted_buckets: ['photos-fork-102-fork-103'] });
      expect(names()).toEqual(['models', 'photos', 'photos-fork-102']);
    });

    it('leave nothing if a bucket cannot be forked, or a sandbox not be created', async () => {
      buckets.forksLeft = 1;
      expect(await fork(id, { count: 2 })).toMatchObject({
        status: 409,
        body: { code: 'BUCKET_NOT_FORKED', details: { bucket: 'photos', reason: 'The workspace is full' } },
      });
      expect(names()).toEqual(['models', 'photos']);
      buckets.forksLeft = 9;
      await create([], { more: { name: 'taken' } });
      expect(await fork(id, { name: 'taken' })).toMatchObject({ status: 409 });
      expect(names()).toEqual(['models', 'photos']);
      expect((await platform.call('GET', '/api/sandboxes')).body['count']).toBe(2);
    });

    it('are deleted after the next start if they could not be at the failure of the fork', async () => {
      const { discardFork } = buckets;
      buckets.discardFork = async () => {
        throw new Error('the store does not respond');
      };
      await create([], { more: { name: 'taken' } });
      expect(await fork(id, { name: 'taken' })).toMatchObject({ status: 409 });
      expect(names()).toEqual(['models', 'photos', 'photos-fork-102']);
      buckets.discardFork = discardFork;
      const [kept] = (await fork(id)).body['containers'];
      await platform.close();
      await platform.reopen();
      expect(names()).toEqual(['models', 'photos', kept.mounts[0].bucket]);
    });

    it('need the rights to create buckets, and to delete objects to drop them', async () => {
      let allowed: string[] = [];
      const noted: string[] = [];
      const access = { allowedActions: async () => new Set(allowed) as never }; // names of known actions
      const repository = { mountsBucket: async () => false };
      const log = createLogger({ level: 'silent', name: 'test' });
      const service = new MountService({ access, buckets, driver, repository, log });
      const { workspaceUuid, principal } = platform.owner;
      const maker = { principalId: principal.id, tokenId: null };
      const mount = { bucket: 'photos', bucketId: 7, prefix: '', path: '/data', readOnly: false, maker };
      const attempt = (readOnly = false) =>
        service.fork(
          workspaceUuid,
          principal,
          [{ ...mount, readOnly }],
          async ({ name }) => void noted.push(name),
          AbortSignal.timeout(10_000),
        );
      await expect(attempt()).rejects.toMatchObject({ code: 'FORK_FORBIDDEN' });
      expect(await attempt(true)).toEqual([{ ...mount, readOnly: true }]);
      allowed = ['bucket:create'];
      const forks = await attempt();
      expect(noted).toEqual([forks[0]?.bucket]);
      const drops = () => service.assertMayDiscard(workspaceUuid, principal, forks);
      await expect(drops()).rejects.toMatchObject({ code: 'DROP_FORBIDDEN' });
      await service.assertMayDiscard(workspaceUuid, principal, [mount]); // nothing of its own
      allowed = ['object:delete'];
      await drops();
    });

    it('drop nothing for those who lost the right, and fork nothing for strangers', async () => {
      const [one] = (await fork(id)).body['containers'];
      const team = platform.access.team(platform.owner.workspaceUuid);
      const member = platform.access.user('member');
      platform.access.join(team, member, 'guest');
      const query = `workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
      const asMember = (method: string, path: string) => platform.call(method, path, { caller: member, body: {} });
      expect((await asMember('POST', `/api/sandboxes/${id}/fork?${query}`)).status).toBe(403);
      expect((await asMember('DELETE', `/api/sandboxes/${one.id}?drop_data=true&${query}`)).status).toBe(403);
      expect((await asMember('POST', `/api/sandboxes/${id}/fork`)).status).toBe(404);
      expect(names()).toEqual(['models', 'photos', 'photos-fork-102']);
    });
  });
});
