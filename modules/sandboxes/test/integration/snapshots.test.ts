import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('snapshots and forks', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await startPlatform({
      driver,
      clock,
      config: { max_snapshots_per_caller: 3, max_per_caller: 5 },
    });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const create = (body: Record<string, unknown>) => platform.call('POST', '/api/containers', { body });
  const source = async (): Promise<string> =>
    (await create({ image: 'busybox', name: 'source', labels: { a: 'b' }, resources: { disk_mb: 128 } })).body['id'];
  const take = (id: string, body: Record<string, unknown> = {}) =>
    platform.call('POST', `/api/containers/${id}/snapshots`, { body });
  const fork = (id: string, body: Record<string, unknown> = {}) =>
    platform.call('POST', `/api/containers/${id}/fork`, { body });
  const get = (path: string) => platform.call('GET', path);

  it('creates a snapshot of a sandbox, and finds, lists and deletes it', async () => {
    const id = await source();
    const taken = await take(id, { name: 'before' });
    expect(taken).toMatchObject({
      status: 201,
      body: { name: 'before', sandbox_id: id, image: 'busybox', size_bytes: 4096, disk_mb: 128 },
    });
    const snapshotId = taken.body['id'];
    expect(snapshotId).toMatch(/^snp_[a-z2-7]{26}$/);
    expect(taken.headers.get('location')).toBe(`/api/snapshots/${snapshotId}`);
    expect((await get(`/api/snapshots/${snapshotId}`)).body).toEqual(taken.body);
    await clock.advance(1000);
    const second = (await take(id)).body;
    expect(second['name']).toBe('source');
    const page = (await get('/api/snapshots?page_size=1')).body;
    expect(page).toEqual({ snapshots: [second], count: 1, next_cursor: expect.any(String) });
    expect((await get(`/api/snapshots?cursor=${page['next_cursor']}`)).body['snapshots']).toEqual([taken.body]);
    expect((await get('/api/snapshots?sandbox_id=sbx_other')).body['count']).toBe(0);
    const { events } = (await get(`/api/containers/${id}/events?format=json`)).body;
    expect(events[0]).toMatchObject({ type: 'snapshot_created', details: { snapshot_id: second['id'] } });
    expect((await platform.call('DELETE', `/api/snapshots/${snapshotId}`)).body).toMatchObject({ deleted: true });
    expect((await get(`/api/snapshots/${snapshotId}`)).status).toBe(404);
    expect([...driver.kept]).toEqual([second['id']]);
  });

  it('creates sandboxes from a snapshot, even after its source is deleted; they outlive the snapshot', async () => {
    const id = await source();
    const snapshot = (await take(id)).body;
    await platform.call('DELETE', `/api/containers/${id}`);
    const made = await create({ snapshot_id: snapshot['id'] });
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'running', image: 'busybox', snapshot_id: snapshot['id'], resources: { disk_mb: 128 } },
    });
    await platform.call('DELETE', `/api/snapshots/${snapshot['id']}`);
    expect(driver.kept.size).toBe(0);
    await platform.call('POST', `/api/containers/${made.body['id']}/stop`);
    expect((await platform.call('POST', `/api/containers/${made.body['id']}/start`)).body['status']).toBe('running');
  });

  it('keeps the files of a deleted snapshot for a sandbox that waits for them', async () => {
    const id = await source();
    const snapshot = (await take(id)).body['id'];
    const { promise, resolve } = Promise.withResolvers<void>();
    driver.beforeCreate = () => promise;
    const made = await platform.call('POST', '/api/containers?wait_ms=0', { body: { snapshot_id: snapshot } });
    await platform.call('DELETE', `/api/snapshots/${snapshot}`);
    expect(driver.kept.has(snapshot)).toBe(true);
    resolve();
    const running = await get(`/api/containers/${made.body['id']}?wait_for=running&timeout=10`);
    expect(running.body).toMatchObject({ status: 'running' });
    await clock.advance(5000);
    await waitFor(() => driver.kept.size === 0);
  });

  it('makes nothing of a copy when the right of who forks is lost meanwhile', async () => {
    const id = await source();
    const { access, owner } = platform;
    const team = access.team(owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const isCopied = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    driver.beforeSnapshot = () => {
      isCopied.resolve();
      return rest.promise;
    };
    const query = `?workspace_uuid=${owner.workspaceUuid}&team_uuid=${team}`;
    const forking = platform.call('POST', `/api/containers/${id}/fork${query}`, { caller: member, body: {} });
    await isCopied.promise;
    access.leave(team, member);
    rest.resolve(); // the clock stands still: no check of open requests comes first
    expect((await forking).status).toBe(403);
    expect((await get('/api/containers')).body['count']).toBe(1);
    expect([driver.sandboxes.size, driver.kept.size]).toEqual([1, 0]);
  });

  it('releases the files of a fork that failed after its copy; it restarts from the copy', async () => {
    const id = await source();
    driver.beforeStart = async () => {
      throw new Error('the first process was killed');
    };
    const forked = (await fork(id)).body['containers'][0];
    expect(forked).toMatchObject({ status: 'error', started_at: null });
    expect(driver.kept.size).toBe(0);
    driver.beforeStart = async () => undefined;
    const again = await platform.call('POST', `/api/containers/${forked['id']}/start`);
    expect(again.body).toMatchObject({ status: 'running', error: null });
  });

  it('keeps the files for a fork that failed before its copy, until it starts or is deleted', async () => {
    const id = await source();
    driver.beforeCreate = async () => {
      throw new Error('the disk is full');
    };
    const made = [await fork(id), await fork(id)].map(({ body }) => body['containers'][0]['id']);
    await clock.advance(5000);
    expect(driver.kept.size).toBe(2);
    driver.beforeCreate = async () => undefined;
    expect((await platform.call('POST', `/api/containers/${made[0]}/start`)).body['status']).toBe('running');
    await clock.advance(5000);
    await waitFor(() => driver.kept.size === 1);
    await platform.call('DELETE', `/api/containers/${made[1]}`);
    await clock.advance(5000);
    await waitFor(() => driver.kept.size === 0);
  });

  it.each([
    [{ snapshot_id: 'snp_aaaaaaaaaaaaaaaaaaaaaaaaaa' }, 404, 'SNAPSHOT_NOT_FOUND'],
    [{ snapshot_id: '../../x' }, 404, 'SNAPSHOT_NOT_FOUND'],
    [{}, 400, 'INVALID_FIELD'],
  ])('refuses to create a sandbox from %j', async (body, status, code) => {
    expect(await create(body)).toMatchObject({ status, body: { code } });
  });

  it('refuses snapshot_id with an image or another disk size', async () => {
    const snapshot = (await take(await source())).body['id'];
    const both = await create({ snapshot_id: snapshot, image: 'debian' });
    expect(both).toMatchObject({ status: 400, body: { details: { field: 'image' } } });
    const larger = await create({ snapshot_id: snapshot, resources: { disk_mb: 256 } });
    expect(larger).toMatchObject({ status: 400, body: { details: { field: 'resources.disk_mb' } } });
  });

  it('limits snapshots per caller, even for concurrent requests', async () => {
    const id = await source();
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => take(id)))).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([201, 201, 201, 403, 403]);
    expect(await take(id)).toMatchObject({
      status: 403,
      body: { code: 'SNAPSHOT_QUOTA_EXCEEDED', details: { current: 3, limit: 3 } },
    });
  });

  it('leaves nothing behind on failure, and the sandbox continues', async () => {
    const id = await source();
    driver.beforeSnapshot = async (sandboxId) => {
      await driver.pause(sandboxId); // the copier died while the processes were frozen
      throw new Error('no space');
    };
    expect((await take(id)).status).toBe(500);
    expect((await get('/api/snapshots')).body['count']).toBe(0);
    expect(driver.kept.size).toBe(0);
    expect(driver.sandboxes.get(id)?.paused).toBe(false);
  });

  it('requires a sandbox that has run before', async () => {
    driver.beforeStart = async () => {
      throw new Error('never');
    };
    const { id } = (await create({ image: 'busybox' })).body;
    expect(await take(id)).toMatchObject({ status: 409, body: { code: 'SANDBOX_NOT_RUNNING' } });
    expect((await fork(id)).status).toBe(409);
  });

  it('removes incomplete and unknown snapshots after a restart', async () => {
    const id = await source();
    const kept = (await take(id)).body['id'];
    const { promise, resolve } = Promise.withResolvers<void>();
    driver.beforeSnapshot = () => promise;
    const cutOff = take(id).catch(() => undefined);
    await waitFor(() => driver.kept.size === 2);
    driver.kept.add('snp_unknown');
    await platform.reopen(); // the first keeps running, as after a killed platform
    expect([...driver.kept]).toEqual([kept]);
    resolve();
    await cutOff;
    expect((await get('/api/snapshots')).body['count']).toBe(1);
  });

  it('forks a sandbox several times and leaves no snapshot behind', async () => {
    const id = await source();
    const forked = await fork(id, { name: 'copy', count: 3 });
    expect(forked.status).toBe(201);
    expect(forked.body['containers']).toMatchObject(
      [1, 2, 3].map((index) => ({
        name: `copy-${index}`,
        status: 'running',
        labels: { a: 'b' },
        resources: { disk_mb: 128 },
      })),
    );
    expect((await get('/api/snapshots')).body['count']).toBe(0);
    expect(driver.kept.size).toBe(0);
    expect((await get('/api/containers')).body['count']).toBe(4);
  });

  it('forks all or none', async () => {
    const id = await source();
    expect(await fork(id, { count: 5 })).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED' } });
    await create({ image: 'busybox', name: 'copy-2' });
    expect(await fork(id, { count: 2, name: 'copy' })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } });
    expect((await get('/api/containers')).body['count']).toBe(2);
    expect(driver.kept.size).toBe(0);
    expect(await fork(id, { count: 0 })).toMatchObject({ status: 400, body: { details: { field: 'count' } } });
  });

  it('reports that a driver does not support snapshots', async () => {
    const id = await source();
    Object.assign(driver, { snapshots: undefined });
    expect(await take(id)).toMatchObject({ status: 501, body: { code: 'SNAPSHOTS_UNAVAILABLE' } });
  });

  it('hides snapshots from other workspaces', async () => {
    const snapshot = (await take(await source())).body['id'];
    const stranger = platform.access.user('stranger@example.org');
    const team = platform.access.team(platform.owner.workspaceUuid);
    const guest = platform.access.user('guest@example.org');
    platform.access.join(team, guest, 'guest');
    for (const method of ['GET', 'DELETE']) {
      const path = `/api/snapshots/${snapshot}`;
      expect((await platform.call(method, path, { caller: null })).status).toBe(401);
      const headers = { authorization: 'Bearer svc_wrong' };
      expect((await platform.call(method, path, { caller: null, headers })).status).toBe(401);
      expect((await platform.call(method, path, { caller: stranger })).status).toBe(404);
      const query = `?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
      const asGuest = await platform.call(method, `${path}${query}`, { caller: guest });
      expect(asGuest.status).toBe(method === 'GET' ? 200 : 403);
    }
    expect((await platform.call('GET', '/api/snapshots', { caller: stranger })).body['count']).toBe(0);
    const foreign = await platform.call('POST', '/api/containers', {
      caller: stranger,
      body: { snapshot_id: snapshot },
    });
    expect(foreign.status).toBe(404);
  });
});
