import { join } from 'node:path';
import { openDatabase } from '@svc/sql';
import { fakeClock, waitFor, type FakeCaller, type FakeClock } from '@svc/testing';
import { unlimitedQuotas, type Limits } from '@svc/quotas';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxTables, VolumeRow } from '../../src/store/tables.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

/** Method, path, body and kind of access; a guest of the team may only read. */
const ROUTES = [
  ['GET', '/api/volumes', undefined, 200],
  ['GET', '/api/volumes/data', undefined, 200],
  ['GET', '/api/volume-snapshots', undefined, 200],
  ['GET', '/api/volume-snapshots/:snapshot', undefined, 200],
  ['POST', '/api/volumes', { name: 'new' }, 403],
  ['PATCH', '/api/volumes/data', { size_mb: 2048 }, 403],
  ['POST', '/api/volumes/data/snapshots', {}, 403],
  ['DELETE', '/api/volume-snapshots/:snapshot', undefined, 403],
  ['DELETE', '/api/volumes/data', undefined, 403],
] as const;

describe('volumes', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;
  let limits: Partial<Limits>;

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    limits = {};
    platform = await startPlatform({
      driver,
      clock,
      quotaLimits: () => ({
        shareOf: unlimitedQuotas.shareOf,
        readLimits: async (workspaceUuid) => ({ ...(await unlimitedQuotas.readLimits(workspaceUuid)), ...limits }),
      }),
    });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const call = (method: string, path: string, body?: unknown, caller?: FakeCaller | null) =>
    platform.call(method, path, { ...(body !== undefined && { body }), ...(caller !== undefined && { caller }) });
  const make = (name: string, more: object = {}) => call('POST', '/api/volumes', { name, ...more });
  const sandbox = (name: string, volumes: object[], more: object = {}) =>
    call('POST', '/api/sandboxes?wait_ms=10000', { image: 'busybox', name, volumes, ...more });
  const mount = (name: string, more: object = {}) => ({ name, path: '/data', ...more });

  it('are created, found, listed, resized and deleted', async () => {
    const made = await make('data');
    expect(made).toMatchObject({ status: 201, body: { name: 'data', size_mb: 1024, mounted_by: [], source_id: null } });
    expect(made.headers.get('location')).toBe('/api/volumes/data');
    expect(await make('data')).toMatchObject({ status: 409, body: { code: 'VOLUME_EXISTS' } });
    await clock.advance(1000);
    const second = (await make('second', { size_mb: 64 })).body;
    const page = (await call('GET', '/api/volumes?page_size=1')).body;
    expect(page).toEqual({ volumes: [second], count: 1, next_cursor: expect.any(String) });
    expect((await call('GET', `/api/volumes?cursor=${page['next_cursor']}`)).body['volumes']).toEqual([made.body]);
    expect(await call('PATCH', '/api/volumes/second', { size_mb: 128 })).toMatchObject({ body: { size_mb: 128 } });
    expect(driver.volumeSizes.get(second['id'])).toBe(128);
    expect(await call('PATCH', '/api/volumes/second', { size_mb: 100 })).toMatchObject({
      status: 400,
      body: { details: { field: 'size_mb', reason: 'must be at least 128, because volumes only grow' } },
    });
    expect((await make('huge', { size_mb: 200_000 })).body['details']).toMatchObject({ field: 'size_mb' });
    expect((await call('DELETE', '/api/volumes/second')).body).toEqual({ name: 'second', deleted: true });
    expect((await call('GET', '/api/volumes/second')).status).toBe(404);
    expect([...driver.volumeSizes.keys()]).toEqual([made.body['id']]);
    expect((await make('second')).status).toBe(201);
  });

  it('are copied to snapshots, and created from them in the same size or a larger one', async () => {
    const { id } = (await make('data', { size_mb: 100 })).body;
    const taken = await call('POST', '/api/volumes/data/snapshots', { name: 'before' });
    const snapshot = { name: 'before', volume_id: id, size_mb: 100, size_bytes: 4096 };
    expect(taken).toMatchObject({ status: 201, body: snapshot });
    const snapshotId = taken.body['id'];
    expect((await call('GET', `/api/volume-snapshots?volume_id=${id}`)).body).toMatchObject({ count: 1 });
    expect((await call('GET', '/api/volume-snapshots?volume_id=vol_other')).body).toMatchObject({ count: 0 });
    expect((await make('small', { size_mb: 64, snapshot_id: snapshotId })).status).toBe(400);
    const copy = (await make('copy', { snapshot_id: snapshotId })).body;
    expect(copy).toMatchObject({ size_mb: 100, source_id: snapshotId });
    const larger = (await make('larger', { size_mb: 200, snapshot_id: snapshotId })).body;
    expect(driver.volumeSizes.get(larger['id'])).toBe(200);
    await call('DELETE', '/api/volumes/data');
    expect((await call('GET', `/api/volume-snapshots/${snapshotId}`)).status).toBe(200);
    await call('DELETE', `/api/volume-snapshots/${snapshotId}`);
    expect((await call('GET', `/api/volume-snapshots/${snapshotId}`)).status).toBe(404);
    expect([...driver.volumeSizes.keys()].toSorted()).toEqual([String(copy['id']), String(larger['id'])].toSorted());
    for (const wrong of [`vsn_${'a'.repeat(26)}`, copy['id'], '..']) {
      const refused = await make('other', { snapshot_id: wrong });
      expect(refused).toMatchObject({ status: 404, body: { code: 'VOLUME_SNAPSHOT_NOT_FOUND' } });
    }
  });

  it('are mounted to write by one sandbox, or read-only by several', async () => {
    await make('data');
    const writer = await sandbox('writer', [mount('data')]);
    expect(writer).toMatchObject({
      status: 201,
      body: { status: 'running', volumes: [{ name: 'data', path: '/data', read_only: false }] },
    });
    for (const more of [{}, { read_only: true }]) {
      expect(await sandbox('second', [mount('data', more)])).toMatchObject({
        status: 409,
        body: { code: 'VOLUME_IN_USE', details: { name: 'data', sandbox_id: writer.body['id'] } },
      });
    }
    const path = `/api/sandboxes/${writer.body['id']}`;
    await call('POST', `${path}/pause`);
    expect((await sandbox('second', [mount('data')])).status).toBe(409);
    await call('POST', `${path}/stop`);
    const readers = [
      await sandbox('one', [mount('data', { read_only: true })]),
      await sandbox('two', [mount('data', { path: '/elsewhere', read_only: true })]),
    ];
    expect(readers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await call('POST', `${path}/start`)).toMatchObject({ status: 409, body: { code: 'VOLUME_IN_USE' } });
    expect((await call('GET', '/api/volumes/data')).body['mounted_by']).toEqual([
      expect.objectContaining({ sandbox_name: 'writer', read_only: false, active: false }),
      expect.objectContaining({ sandbox_name: 'one', read_only: true, active: true }),
      expect.objectContaining({ sandbox_name: 'two', read_only: true, active: true }),
    ]);
    for (const { body } of readers) await call('DELETE', `/api/sandboxes/${body['id']}`);
    expect(await call('POST', `${path}/start?wait_ms=10000`)).toMatchObject({ body: { status: 'running' } });
    expect(await call('DELETE', '/api/volumes/data')).toMatchObject({ status: 409, body: { code: 'VOLUME_IN_USE' } });
    await call('DELETE', path);
    expect((await call('DELETE', '/api/volumes/data')).status).toBe(200);
  });

  it('are never mounted while the sandbox that had them is still being stopped', async () => {
    await make('data');
    const first = (await sandbox('first', [mount('data')])).body['id'];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const stop = driver.stop.bind(driver);
    driver.stop = async (id) => {
      if (id === first) await held;
      await stop(id);
    };
    const stopped = call('POST', `/api/sandboxes/${first}/stop`);
    await waitFor(async () => (await call('GET', `/api/sandboxes/${first}`)).body['status'] === 'stopped');
    const starts: string[] = [];
    driver.beforeStart = async ({ id }) => void starts.push(id);
    const second = await call('POST', '/api/sandboxes?wait_ms=0', { image: 'busybox', volumes: [mount('data')] });
    expect(second).toMatchObject({ status: 202, body: { status: 'creating' } });
    const unrelated = await sandbox('unrelated', []);
    expect(unrelated.body['status']).toBe('running');
    expect(starts).toEqual([unrelated.body['id']]);
    release();
    await stopped;
    await waitFor(() => starts.length === 2);
    expect(starts[1]).toBe(second.body['id']);
  });

  it('are mounted by one of two concurrent requests', async () => {
    await make('data');
    const both = await Promise.all(['a', 'b'].map((name) => sandbox(name, [mount('data')])));
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409']);
  });

  it.each([
    [[{ name: 'missing', path: '/data' }], 'UNKNOWN_VOLUME', 'volumes[0].name'],
    [[{ name: 'data', path: '/' }], 'INVALID_FIELD', 'volumes/0/path'],
    [[{ name: 'data', path: 'data' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[{ name: 'data', path: '/a/../b' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[{ name: 'data', path: '/data/' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[{ name: 'data', path: '/proc/x' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[{ name: 'data', path: '/dev' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[{ name: 'data', path: '/.sandbox/agent' }], 'INVALID_FIELD', 'volumes[0].path'],
    [[mountOf('data', '/a'), mountOf('data', '/b')], 'INVALID_FIELD', 'volumes[1].name'],
    [[mountOf('data', '/a'), mountOf('more', '/a/b')], 'INVALID_FIELD', 'volumes[1].path'],
  ])('refuse %j', async (volumes, code, field) => {
    await make('data');
    await make('more');
    const refused = await sandbox('box', volumes);
    expect(refused.status).toBe(400);
    if (field.includes('[')) expect(refused.body).toMatchObject({ code, details: { field } });
    expect((await call('GET', '/api/sandboxes')).body['count']).toBe(0);
  });

  it('belong to a repeated request, and to no other with its key', async () => {
    await make('data');
    const headers = { 'idempotency-key': 'k' };
    const post = (volumes: object[]) =>
      platform.call('POST', '/api/sandboxes', { body: { image: 'busybox', volumes }, headers });
    const first = await post([mount('data')]);
    expect((await post([mount('data')])).body['id']).toBe(first.body['id']);
    expect(await post([])).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  });

  it('are copied for forks that write to them, and shared by those that read them', async () => {
    const { id: dataId } = (await make('data')).body;
    await make('models');
    const source = await sandbox('source', [mount('data'), { name: 'models', path: '/models', read_only: true }]);
    const forked = await call('POST', `/api/sandboxes/${source.body['id']}/fork?wait_ms=10000`, { count: 2 });
    expect(forked.status).toBe(201);
    const names = forked.body['containers'].map(({ volumes }: { volumes: { name: string }[] }) => {
      expect(volumes).toEqual([
        { name: expect.stringMatching(/^data-[a-z2-7]{8}$/), path: '/data', read_only: false },
        { name: 'models', path: '/models', read_only: true },
      ]);
      return volumes[0]?.name;
    });
    expect(new Set(names).size).toBe(2);
    for (const name of names) {
      expect((await call('GET', `/api/volumes/${name}`)).body).toMatchObject({ source_id: dataId, size_mb: 1024 });
    }
    const [first, second] = forked.body['containers'];
    expect((await call('DELETE', `/api/sandboxes/${first.id}`)).body).not.toHaveProperty('deleted_volumes');
    expect((await call('GET', '/api/volumes')).body['count']).toBe(4);
    const dropped = await call('DELETE', `/api/sandboxes/${second.id}?volumes=delete`);
    expect(dropped.body).toMatchObject({ deleted: true, deleted_volumes: [names[1]] });
    expect((await call('GET', '/api/volumes')).body['count']).toBe(3);
  });

  it('leave no copy of a fork that failed', async () => {
    await make('data');
    const source = await sandbox('source', [mount('data')]);
    limits = { workspace: { sandboxes: 2 } };
    const forked = await call('POST', `/api/sandboxes/${source.body['id']}/fork`, { count: 2 });
    expect(forked).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED' } });
    expect((await call('GET', '/api/volumes')).body['count']).toBe(1);
    expect(driver.volumeSizes.size).toBe(1);
  });

  it('leave no copy of a fork by an E2B client that did not start', async () => {
    await make('data');
    const source = await sandbox('source', [mount('data')]);
    driver.beforeCreate = () => {
      throw new Error('no room');
    };
    const forked = await call('POST', `/e2b/sandboxes/${source.body['id'].slice(4)}/fork`, { count: 2 });
    expect(forked).toMatchObject({ status: 201, body: [{ error: { code: 500 } }, { error: { code: 500 } }] });
    expect((await call('GET', '/api/volumes')).body['count']).toBe(1);
    expect((await call('GET', '/api/containers')).body['count']).toBe(1);
  });

  it('count towards quotas with their size, snapshots with what they take', async () => {
    limits = { workspace: { volumes: 2, sandbox_disk: 1000, snapshots: 1 } };
    expect((await make('one', { size_mb: 600 })).status).toBe(201);
    const breach = (quota: string, current: number) => ({
      status: 403,
      body: { code: 'QUOTA_EXCEEDED', details: { quota, current } },
    });
    expect(await make('two', { size_mb: 500 })).toMatchObject(breach('sandbox_disk', 600));
    expect((await make('two', { size_mb: 100 })).status).toBe(201);
    expect(await make('three', { size_mb: 100 })).toMatchObject(breach('volumes', 2));
    expect(await call('PATCH', '/api/volumes/two', { size_mb: 500 })).toMatchObject(breach('sandbox_disk', 700));
    expect((await call('PATCH', '/api/volumes/two', { size_mb: 400 })).status).toBe(200);
    expect(await call('POST', '/api/volumes/two/snapshots')).toMatchObject(breach('sandbox_disk', 1000));
    limits = { workspace: { sandbox_disk: 1400, snapshots: 1 } };
    expect((await call('POST', '/api/volumes/two/snapshots')).status).toBe(201);
    expect(await call('POST', '/api/volumes/two/snapshots')).toMatchObject(breach('snapshots', 1));
    expect((await make('rest', { size_mb: 400 })).status).toBe(201); // the snapshot takes less than a MiB
    await call('DELETE', '/api/volumes/rest');
    await call('DELETE', '/api/volumes/one');
    expect((await make('one', { size_mb: 1000 })).status).toBe(201);
  });

  it('keep their size when a resize fails, and leave nothing when a copy fails', async () => {
    await make('data', { size_mb: 100 });
    driver.beforeVolumeChange = async () => {
      throw new Error('broken');
    };
    expect((await call('PATCH', '/api/volumes/data', { size_mb: 200 })).status).toBe(500);
    expect((await call('POST', '/api/volumes/data/snapshots')).status).toBe(500);
    expect((await make('other')).status).toBe(500);
    driver.beforeVolumeChange = async () => undefined;
    expect((await call('GET', '/api/volumes/data')).body['size_mb']).toBe(100);
    expect((await call('GET', '/api/volume-snapshots')).body['count']).toBe(0);
    expect(driver.volumeSizes.size).toBe(1);
    expect((await call('PATCH', '/api/volumes/data', { size_mb: 200 })).body['size_mb']).toBe(200);
  });

  it('are read again by another helper after a copy that failed, which may have left the first one frozen', async () => {
    await make('data');
    const list = () => call('GET', '/api/volumes/data/files/list?path=/');
    expect((await list()).status).toBe(200);
    const [helper] = driver.volumeServers.values();
    driver.beforeVolumeChange = async (id) => {
      if (id.startsWith('vsn_')) throw new Error('broken');
    };
    expect((await call('POST', '/api/volumes/data/snapshots')).status).toBe(500);
    expect((await list()).status).toBe(200);
    expect([...driver.volumeServers.values()]).not.toContain(helper);
    expect((await call('DELETE', '/api/volumes/data')).status).toBe(200);
    expect(driver.volumeServers.size).toBe(0);
  });

  it('are repaired after a start: resizes complete, the rest of what was begun is removed', async () => {
    const { id } = (await make('data', { size_mb: 100 })).body;
    await call('POST', '/api/volumes/data/snapshots');
    await make('unfinished');
    await make('deleted');
    await platform.close();
    const records = openDatabase<SandboxTables>({ file: join(platform.folder, 'svc.db') });
    const set = (name: string, values: Partial<VolumeRow>) =>
      records.kysely.updateTable('sandbox_volume').set(values).where('taken_name', '=', name).execute();
    await set('data', { state: 'resizing', size_mb: 300 });
    await set('unfinished', { state: 'making' });
    await set('deleted', { state: 'removed', taken_name: null });
    await records.close();
    driver.volumeSizes.set('vol_stray', 64);
    await platform.reopen();
    expect(driver.volumeSizes.get(id)).toBe(300);
    expect([...driver.volumeSizes.keys()].filter((each) => each !== id)).toEqual([expect.stringMatching(/^vsn_/)]);
    expect((await call('GET', '/api/volumes')).body).toMatchObject({ count: 1, volumes: [{ size_mb: 300 }] });
    expect((await call('PATCH', '/api/volumes/data', { size_mb: 400 })).status).toBe(200);
  });

  it('need a driver that has them', async () => {
    Object.defineProperty(driver, 'volumes', { value: undefined });
    expect(await make('data')).toMatchObject({
      status: 501,
      body: { code: 'VOLUMES_UNAVAILABLE', details: { driver: 'fake' } },
    });
    expect((await call('GET', '/api/volumes')).body['count']).toBe(0);
    expect(await call('GET', '/api/volumes/data/files/list?path=/')).toMatchObject({
      status: 501,
      body: { code: 'VOLUMES_UNAVAILABLE' },
    });
  });

  describe('without access', () => {
    it('are hidden, and refused to those who may only read', async () => {
      await make('data');
      const snapshot = (await call('POST', '/api/volumes/data/snapshots')).body['id'];
      const { workspaceUuid } = platform.owner;
      const team = platform.access.team(workspaceUuid);
      const stranger = platform.access.user('stranger@example.org');
      const member = platform.access.user('member');
      const guest = platform.access.user('guest');
      platform.access.join(team, member, 'member');
      platform.access.join(team, guest, 'guest');
      const reader = platform.access.serviceAccount(workspaceUuid, ['read']);
      const inTeam = `?workspace_uuid=${workspaceUuid}&team_uuid=${team}`;
      const statuses = async (caller: FakeCaller | null, query: string): Promise<number[]> => {
        const answers: number[] = [];
        for (const [method, path, body] of ROUTES) {
          answers.push((await call(method, path.replace(':snapshot', snapshot) + query, body, caller)).status);
        }
        return answers;
      };
      const all = (status: number): number[] => ROUTES.map(() => status);
      expect(await statuses(null, '')).toEqual(all(401));
      expect(await statuses(stranger, `?workspace_uuid=${workspaceUuid}`)).toEqual(all(404));
      expect(await statuses(guest, inTeam)).toEqual(ROUTES.map((route) => route[3]));
      expect(await statuses(reader, '')).toEqual(ROUTES.map((route) => route[3]));
      expect(await statuses(platform.access.guest(), '')).toEqual(all(403));
      const own = await statuses(stranger, '');
      expect(own).toEqual([200, 404, 200, 404, 201, 404, 404, 404, 404]);
      expect(await statuses(member, inTeam)).toEqual([200, 200, 200, 200, 201, 200, 201, 200, 200]);
    });

    it('of a foreign workspace cannot be mounted, nor any by a guest', async () => {
      await make('data');
      const stranger = platform.access.user('stranger@example.org');
      const body = { image: 'busybox', volumes: [mount('data')] };
      expect(await call('POST', '/api/sandboxes', body, stranger)).toMatchObject({
        status: 400,
        body: { code: 'UNKNOWN_VOLUME' },
      });
      const guest = platform.access.guest();
      expect((await call('POST', '/api/sandboxes', body, guest)).status).toBe(400);
    });
  });
});

function mountOf(name: string, path: string): object {
  return { name, path };
}
