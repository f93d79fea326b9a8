import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { describeDialects, fakeAccess, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { sql, type Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { chunksOf, FakeDriver } from '../support/fake-driver.ts';
import { FakePods } from '../support/fake-pods.ts';
import { FolderBlobs } from '../support/folder-blobs.ts';
import { withLostAnswers } from '../support/lost-answers.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const MIB = 1024 * 1024;
const LEFT_BY_A_CRASH = '0'.repeat(32);

/** One node, whose database or storage is away at the wrong moment. */
describeDialects<unknown>('snapshots in connected clusters, when something fails', migrations, (database) => {
  let folder: TemporaryFolder;
  let pods: FakePods;
  let own: FakeDriver;
  let blobs: FolderBlobs;
  let clusters: FakeClusters;
  let platform: TestPlatform;
  let home: string;
  let isLost: () => Promise<boolean>;

  beforeEach(async () => {
    isLost = async () => false;
    folder = await temporaryFolder();
    blobs = new FolderBlobs(join(folder.path, 'blobs'));
    pods = new FakePods();
    own = new FakeDriver();
    clusters = new FakeClusters(pods);
    platform = await startPlatform({
      driver: own,
      node: 'a',
      access: fakeAccess(),
      database: withLostAnswers(database(), () => isLost()),
      clusters: clusters.on('a'),
      archives: blobs,
      publicUrl: 'https://platform.example.com', // from which their nodes pull images
    });
    home = clusters.add(platform.owner.workspaceUuid, 'home');
    clusters.dial(home, 'a');
    await waitFor(() => clusters.opened.length === 1);
  });
  afterEach(async () => {
    await platform.dispose();
    for (const driver of [pods, own]) await driver.dispose();
    await folder.remove();
  });

  const kysely = (): Kysely<SandboxTables> => database().kysely; // migrated with every module's tables
  const create = async (fields: object) => {
    const made = await platform.call('POST', '/api/sandboxes?wait_ms=10000', { body: { cluster: 'home', ...fields } });
    expect(made.status).toBe(201);
    return made.body;
  };
  const running = async (fields: object = { image: 'busybox' }): Promise<string> => {
    const made = await create(fields);
    expect(made).toMatchObject({ status: 'running' });
    return made['id'];
  };
  const take = (id: string) => platform.call('POST', `/api/sandboxes/${id}/snapshots`, { body: {} });
  const remove = (snapshot: string) => platform.call('DELETE', `/api/snapshots/${snapshot}`);
  const usedDiskMib = async (): Promise<number> =>
    (await platform.module.quotaUsage([platform.owner.workspaceUuid]))['sandbox_disk'] ?? 0;
  /** Sandboxes from the snapshot that never start, and so keep its archive. */
  const failing = async (snapshot: string, count: number): Promise<string[]> => {
    pods.beforeCreate = () => Promise.reject(new Error('no node has room'));
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const made = await create({ snapshot_id: snapshot });
      expect(made).toMatchObject({ status: 'error' });
      ids.push(made['id']);
    }
    return ids;
  };
  const archives = () => kysely().selectFrom('sandbox_archive').selectAll().execute();
  const snapshots = () => kysely().selectFrom('sandbox_snapshot').selectAll().orderBy('created_at').execute();
  /** For all that concerns snapshots. */
  const setAway = async (isAway: boolean): Promise<void> => {
    for (const name of ['sandbox_archive', 'sandbox_snapshot']) {
      const [from, to] = isAway ? [name, `${name}_away`] : [`${name}_away`, name];
      await sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(kysely());
    }
  };
  /** The answer to the transaction that completes the next snapshot is lost. */
  const loseAnswer = (also: () => Promise<void> = async () => undefined): void => {
    isLost = async () => {
      if (!(await archives()).some(({ state }) => state === 'ready')) return false;
      isLost = async () => false;
      await also();
      return true;
    };
  };

  it('are kept if they are complete while a check removes what a crash has left', async () => {
    const id = await running();
    const removed = (await take(id)).body['id'];
    const [isRemoving, mayRemove] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    blobs.beforeRemove = async (blob) => {
      if (blob !== LEFT_BY_A_CRASH) return;
      isRemoving.resolve();
      await mayRemove.promise;
    };
    const left = {
      id: LEFT_BY_A_CRASH,
      node: 'a',
      state: 'writing',
      format: 'pods',
      used_at: '2026-01-01T00:00:00.000Z',
    };
    await kysely()
      .insertInto('sandbox_archive')
      .values({ ...left, snapshot_id: 'snp_gone', size_bytes: 0, wrapper: 'w', box: 'b' })
      .execute();
    const rest = Promise.withResolvers<void>();
    pods.filesOf = async function* () {
      await rest.promise;
      yield* chunksOf('the files');
    };
    const taking = take(id);
    await waitFor(async () => (await archives()).filter(({ state }) => state === 'writing').length === 2);
    await remove(removed); // wakes the check
    await isRemoving.promise;
    rest.resolve();
    const taken = await taking;
    expect(taken.status).toBe(201);
    mayRemove.resolve();
    await waitFor(async () => !(await archives()).some((each) => each.snapshot_id === removed));
    expect(await archives()).toMatchObject([{ snapshot_id: taken.body['id'], state: 'ready' }]);
    const restored = await running({ snapshot_id: taken.body['id'] });
    expect(pods.restored.get(restored)).toBe('the files');
  });

  it('are answered if they are complete, although the database could not say so', async () => {
    loseAnswer();
    const taken = await take(await running());
    expect(taken).toMatchObject({ status: 201, body: { archived_at: expect.any(String) } });
    const restored = await running({ snapshot_id: taken.body['id'] });
    expect(pods.restored.get(restored)).toContain('files of');
  });

  it('keep their bytes if they are complete, although the database is away afterwards', async () => {
    loseAnswer(() => setAway(true));
    const id = await running();
    expect((await take(id)).status).toBe(500);
    await setAway(false);
    const { body } = await platform.call('GET', '/api/snapshots');
    expect(body).toMatchObject({ count: 1, snapshots: [{ sandbox_id: id }] });
    const restored = await running({ snapshot_id: body['snapshots'][0].id });
    expect(pods.restored.get(restored)).toBe(`files of ${id}`);
  });

  it('count towards the quota after they are deleted, as long as a sandbox waits for their files', async () => {
    const id = await running();
    pods.filesOf = async function* () {
      for (let mib = 0; mib < 5; mib += 1) yield randomBytes(MIB); // which no compression makes smaller
    };
    const withoutMib = await usedDiskMib();
    const [snapshot, other] = [(await take(id)).body['id'], (await take(id)).body['id']];
    expect(await usedDiskMib()).toBe(withoutMib + 2 * 5);
    const waiting = await failing(snapshot, 2);
    const withMib = await usedDiskMib();
    await remove(snapshot);
    expect(await usedDiskMib()).toBeGreaterThanOrEqual(withMib);
    expect(await usedDiskMib()).toBeLessThan(withMib + 5);
    for (const each of waiting) await platform.call('DELETE', `/api/sandboxes/${each}`);
    await remove(other); // wakes the check
    await waitFor(async () => (await archives()).length === 0);
    expect(await usedDiskMib()).toBe(withoutMib);
    expect(await blobs.list()).toEqual([]);
  });

  it('are removed when the fork runs that they were made for, although its request did not wait for that', async () => {
    const id = await running();
    const starts = Promise.withResolvers<void>();
    pods.beforeCreate = () => starts.promise;
    try {
      expect((await platform.call('POST', `/api/sandboxes/${id}/fork?wait_ms=0`, { body: {} })).status).toBe(201);
      await remove((await take(id)).body['id']); // wakes the sweep, which keeps the archive of the fork
      await waitFor(async () => (await archives()).length === 1);
    } finally {
      starts.resolve();
    }
    await waitFor(async () => (await archives()).length === 0);
    expect(await blobs.list()).toEqual([]);
  });

  it('are removed although a sandbox waits for them, if its cluster was removed', async () => {
    const id = await running();
    const [snapshot, other] = [(await take(id)).body['id'], (await take(id)).body['id']];
    const [waiting] = await failing(snapshot, 1);
    await remove(snapshot);
    clusters.remove(home);
    await waitFor(async () => {
      const { body } = await platform.call('GET', `/api/sandboxes/${waiting}`);
      return body['error']?.code === 'CLUSTER_REMOVED';
    });
    await remove(other); // wakes the check
    await waitFor(async () => (await archives()).length === 0);
    expect(await blobs.list()).toEqual([]);
  });

  it('free their quota if they failed while the database was away', async () => {
    const id = await running();
    const usedMib = await usedDiskMib();
    const other = (await take(id)).body['id'];
    pods.filesOf = async function* () {
      yield* chunksOf('some of the files');
      await setAway(true);
      throw new Error('the tunnel broke');
    };
    expect((await take(id)).status).toBe(500);
    await setAway(false);
    await remove(other); // wakes the check of archives
    await waitFor(async () => (await snapshots()).length + (await archives()).length === 0);
    expect(await usedDiskMib()).toBe(usedMib);
    expect(await blobs.list()).toEqual([]);
    const { body } = await platform.call('GET', `/api/sandboxes/${id}/events?format=json`);
    expect(body['events'][0]).toMatchObject({ type: 'snapshot_failed' });
  });

  it('free their quota if the fork they were made for ended while the database was away', async () => {
    const id = await running();
    pods.beforeStart = () => setAway(true);
    const forked = await platform.call('POST', `/api/sandboxes/${id}/fork?wait_ms=10000`, { body: {} });
    expect(forked.status).toBe(500);
    await setAway(false);
    await waitFor(async () => (await snapshots()).length === 0);
  });

  it('are left alone by that while they are under way', async () => {
    const id = await running();
    /** Waits until what a failure has left was removed. */
    const afterCheck = async (): Promise<void> => {
      const left = {
        id: 'snp_left',
        node: 'a',
        driver: `cluster:${home}`,
        name: 'left',
        sandbox_id: id,
        state: 'making',
      };
      const owner = { workspace_uuid: platform.owner.workspaceUuid, owner_id: 'o', accountable_id: 'o' };
      const values = { ...left, ...owner, image: 'busybox', disk_mb: 64, size_bytes: 0, archive_bytes: 0 };
      await kysely()
        .insertInto('sandbox_snapshot')
        .values({ ...values, created_at: '2026-01-01T00:00:00.000Z' })
        .execute();
      await waitFor(async () => !(await snapshots()).some((each) => each.id === 'snp_left'));
    };
    pods.filesOf = async function* () {
      await afterCheck();
      yield* chunksOf('the files');
    };
    const taken = await take(id);
    expect(taken.status).toBe(201);
    pods.filesOf = () => chunksOf('the files');
    let kept: string[] = [];
    pods.beforeCreate = async () => {
      await afterCheck();
      kept = (await snapshots()).map(({ state }) => state);
    };
    const forked = await platform.call('POST', `/api/sandboxes/${id}/fork?wait_ms=30000`, { body: {} });
    expect(forked).toMatchObject({ status: 201, body: { containers: [{ status: 'running' }] } });
    expect(kept).toEqual(['ready', 'fork']);
    expect((await snapshots()).map((each) => each.id)).toEqual([taken.body['id']]);
  });
});
