import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { describeDialects, fakeAccess, fakeClock, temporaryFolder, waitFor } from '@svc/testing';
import type { FakeAccess, FakeClock, TemporaryFolder } from '@svc/testing';
import { unlessAborted } from '@svc/runtime';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sandboxErrors } from '../../src/errors.ts';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { FakePods } from '../support/fake-pods.ts';
import { FolderBlobs } from '../support/folder-blobs.ts';
import { passTimeUntil } from '../support/pass-time.ts';
import { startPlatform, type CallOptions, type TestPlatform } from '../support/platform.ts';

const MINUTE_MS = 60_000;
const GIB = 1024 ** 3;

describeDialects<unknown>('sandboxes of clusters whose pods are gone', migrations, (database) => {
  let folder: TemporaryFolder;
  let access: FakeAccess;
  let clock: FakeClock;
  let own: FakeDriver;
  let pods: FakePods;
  /** Those of the cluster `hostile`. */
  let hostile: FakePods;
  let clusters: FakeClusters;
  let platform: TestPlatform;
  /** Resolves only after each test. */
  let never: PromiseWithResolvers<void>;

  beforeEach(async () => {
    folder = await temporaryFolder();
    never = Promise.withResolvers();
    access = fakeAccess();
    clock = fakeClock();
    own = new FakeDriver();
    pods = new FakePods();
    hostile = new FakePods();
    clusters = new FakeClusters(pods);
    platform = await startPlatform({
      driver: own,
      node: 'a',
      access,
      clock,
      database: database(),
      clusters: clusters.on('a'),
      archives: new FolderBlobs(join(folder.path, 'blobs')),
      publicUrl: 'https://platform.example.com',
    });
    for (const name of ['home', 'hostile']) {
      const id = clusters.add(platform.owner.workspaceUuid, name);
      if (name === 'hostile') clusters.drivers.set(id, hostile);
      clusters.dial(id, 'a');
    }
    await until(() => Promise.resolve(clusters.opened.length === 2));
  });
  afterEach(async () => {
    for (const driver of [hostile, pods]) driver.beforeRemove = async () => undefined;
    never.resolve();
    await platform.dispose();
    for (const driver of [own, pods, hostile]) await driver.dispose();
    await folder.remove();
  });

  const kysely = (): Kysely<SandboxTables> => database().kysely; // migrated with every module's tables
  const until = (condition: () => boolean | Promise<boolean>): Promise<void> => passTimeUntil(clock, condition);
  const call = (method: string, path: string, options: CallOptions = {}) => platform.call(method, path, options);
  const create = async (fields: object = {}, options: CallOptions = {}, query = ''): Promise<string> => {
    const body = { image: 'busybox', cluster: 'home', on_node_lost: 'restore', ...fields };
    const made = await call('POST', `/api/sandboxes?wait_ms=10000${query}`, { ...options, body });
    expect(made).toMatchObject({ status: 201, body: { status: 'running' } });
    return String(made.body['id']);
  };
  const read = async (id: string) => (await call('GET', `/api/sandboxes/${id}`)).body;
  const isRunning = async (id: string): Promise<boolean> => (await read(id))['status'] === 'running';
  /** Takes a snapshot, then loses the pod. */
  const lose = async (id: string, driver = pods): Promise<void> => {
    expect((await call('POST', `/api/sandboxes/${id}/snapshots`, { body: {} })).status).toBe(201);
    await driver.crash(id);
    driver.sandboxes.delete(id);
    await until(async () => (await read(id))['status'] === 'error');
  };
  const eventsOf = async (id: string): Promise<{ type: string; details: Record<string, unknown> }[]> =>
    (await call('GET', `/api/sandboxes/${id}/events?format=json`)).body['events'];
  const restoresOf = async (id: string): Promise<number> =>
    (await eventsOf(id)).filter(({ type }) => type === 'restored').length;
  const attemptsOf = async (id: string) =>
    kysely().selectFrom('sandbox_restore').selectAll().where('sandbox_id', '=', id).executeTakeFirst();
  /** Puts the next attempt forward. */
  const makeDue = async (id: string): Promise<void> => {
    const next_attempt_at = clock.now().toISOString();
    await kysely().updateTable('sandbox_restore').set({ next_attempt_at }).where('sandbox_id', '=', id).execute();
  };

  it('get new pods from their newest snapshots if their owners chose that', async () => {
    const [chosen, other] = [await create(), await create({ on_node_lost: 'wait' })];
    await lose(other);
    await lose(chosen);
    await until(async () => (await restoresOf(chosen)) === 1 && (await isRunning(chosen)));
    expect(pods.restored.get(chosen)).toBe(`files of ${chosen}`);
    const { snapshot_id } = await read(chosen);
    const { body } = await call('GET', `/api/snapshots/${snapshot_id}`);
    expect(body).toMatchObject({ sandbox_id: chosen });
    const told = (await eventsOf(chosen)).find(({ type }) => type === 'restored');
    expect(told?.details).toMatchObject({ snapshot_id });
    expect(await read(other)).toMatchObject({ status: 'error', snapshot_id: null });
  });

  it('wait for their own cluster only, and so do rights and the end of the platform', async () => {
    const [theirs, ours] = [await create({ cluster: 'hostile' }), await create()];
    let isStuck = false;
    hostile.beforeRemove = () => {
      isStuck = true;
      return never.promise;
    };
    await lose(theirs, hostile);
    await until(() => Promise.resolve(isStuck));
    await lose(ours);
    await until(async () => (await restoresOf(ours)) === 1 && (await isRunning(ours)));
    expect(pods.restored.get(ours)).toBe(`files of ${ours}`);

    const team = access.team(platform.owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const query = `&workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const held = await create({}, { caller: member }, query);
    access.leave(team, member);
    await until(async () => (await read(held))['status'] === 'stopped');
    expect(await read(held)).toMatchObject({ state_reason: 'CLUSTER_RIGHT_REVOKED' });
    expect(await read(theirs)).toMatchObject({ status: 'error' });
    await platform.close(); // although the cluster still does not answer
    expect(await attemptsOf(theirs)).toBeUndefined();
    await platform.reopen();
  });

  it('do not wait for others that cannot be restored, which are tried again later and later', async () => {
    const refused: string[] = [];
    for (let index = 0; index < 8; index += 1) refused.push(await create());
    const good = await create();
    pods.beforeRemove = async (id) => {
      if (refused.includes(id)) throw new Error('the cluster refuses');
    };
    for (const id of [...refused, good]) await lose(id);
    await until(async () => (await restoresOf(good)) === 1 && (await isRunning(good)));
    const [first = ''] = refused;
    await until(async () => Number((await attemptsOf(first))?.refusals) > 0);
    await makeDue(first);
    const before = Number((await attemptsOf(first))?.refusals);
    await until(async () => Number((await attemptsOf(first))?.refusals) > before);
    const { next_attempt_at = '', restores } = (await attemptsOf(first)) ?? {};
    expect(restores).toBe(0);
    expect(Date.parse(next_attempt_at) - clock.nowMs()).toBeGreaterThan(15_000);
    pods.beforeRemove = async () => undefined;
    await makeDue(first);
    await until(async () => (await restoresOf(first)) === 1 && (await isRunning(first)));
  });

  it('are restored again after longer and longer times if that fails, five times at most, until they are started', async () => {
    const id = await create();
    await lose(id);
    pods.beforeCreate = () => Promise.reject(sandboxErrors.ROOTFS_FAILED({ details: { reason: 'the disk is small' } }));
    const waitsMinutes: number[] = [];
    for (let restores = 1; restores <= 5; restores += 1) {
      await until(async () => (await restoresOf(id)) === restores && (await read(id))['status'] === 'error');
      const { next_attempt_at = '' } = (await attemptsOf(id)) ?? {};
      waitsMinutes.push(Math.ceil((Date.parse(next_attempt_at) - clock.nowMs()) / MINUTE_MS));
      await clock.advance(30_000);
      expect(await restoresOf(id)).toBe(restores);
      await makeDue(id);
    }
    expect(waitsMinutes).toEqual([10, 20, 40, 80, 10]);
    await until(async () => (await read(id))['error']?.code === 'RESTORE_FAILED');
    expect((await eventsOf(id))[0]).toMatchObject({
      type: 'error',
      details: { code: 'RESTORE_FAILED', message: expect.stringContaining('after 5 restores') },
    });
    await clock.advance(30_000);
    expect([await restoresOf(id), await attemptsOf(id)]).toEqual([5, undefined]);
    pods.beforeCreate = async () => undefined;
    const { body } = await call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`);
    expect(body).toMatchObject({ status: 'running' });
    expect(pods.restored.get(id)).toBe(`files of ${id}`);
  });

  it('end with the right of their creator to the cluster, also in the middle of a transfer, and start none of it', async () => {
    const team = access.team(platform.owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const query = `&workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const source = await create();
    const { body: snapshot } = await call('POST', `/api/sandboxes/${source}/snapshots`, { body: {} });
    await kysely().updateTable('sandbox_archive').set({ unpacked_bytes: GIB }).execute(); // takes more than an hour
    const begun = Promise.withResolvers<AbortSignal>();
    pods.beforeCreate = (_spec, signal) => {
      begun.resolve(signal);
      return unlessAborted(never.promise, signal, () => signal.reason as Error); // of the platform
    };
    let hasStarted = false;
    pods.beforeStart = async () => void (hasStarted = true);
    const body = { snapshot_id: snapshot['id'], cluster: 'home' };
    const made = await call('POST', `/api/sandboxes?wait_ms=0${query}`, { caller: member, body });
    expect(made).toMatchObject({ status: 202, body: { status: 'creating' } });
    const signal = await begun.promise;
    await clock.advance(10 * MINUTE_MS);
    expect(signal.aborted).toBe(false);
    access.leave(team, member);
    await until(async () => signal.aborted);
    await until(async () => (await read(made.body['id']))['status'] === 'stopped');
    expect(await read(made.body['id'])).toMatchObject({ state_reason: 'CLUSTER_RIGHT_REVOKED', error: null });
    expect([hasStarted, pods.sandboxes.has(made.body['id'])]).toEqual([false, false]);
  });

  it('keep no sandbox running that is deleted, however many of them wait for a slow cluster', async () => {
    const deleted = await create();
    const { body: snapshot } = await call('POST', `/api/sandboxes/${deleted}/snapshots`, { body: {} });
    let restores = 0;
    pods.beforeCreate = (_spec, signal) => {
      restores += 1;
      return unlessAborted(never.promise, signal, () => signal.reason as Error); // of the platform
    };
    const body = { snapshot_id: snapshot['id'], cluster: 'home' };
    for (let count = 0; count < 17; count += 1) {
      expect((await call('POST', '/api/sandboxes?wait_ms=0', { body })).status).toBe(202);
    }
    await waitFor(() => restores === 16); // each of the places has one, and the last one waits
    expect((await call('DELETE', `/api/sandboxes/${deleted}`)).status).toBe(200);
    await waitFor(() => !pods.sandboxes.has(deleted));
    expect(restores).toBe(16);
  });

  it('count their restores anew once they have run for a day', async () => {
    const id = await create();
    await lose(id);
    await until(async () => (await restoresOf(id)) === 1 && (await isRunning(id)));
    await kysely().updateTable('sandbox_restore').set({ restores: 5 }).execute();
    const started_at = new Date(clock.nowMs() - 24 * 60 * MINUTE_MS).toISOString();
    await lose(id);
    await kysely().updateTable('sandbox').set({ started_at }).where('id', '=', id).execute();
    await makeDue(id);
    await until(async () => (await restoresOf(id)) === 2);
    expect(await attemptsOf(id)).toMatchObject({ restores: 1 });
  });
});
