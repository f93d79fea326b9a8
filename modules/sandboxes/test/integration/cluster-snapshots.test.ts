import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas, type QuotaLimits } from '@svc/quotas';
import {
  describeDialects,
  fakeAccess,
  temporaryFolder,
  waitFor,
  type FakeAccess,
  type TemporaryFolder,
} from '@svc/testing';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { chunksOf, FakeDriver } from '../support/fake-driver.ts';
import { FakePods } from '../support/fake-pods.ts';
import { FolderBlobs } from '../support/folder-blobs.ts';
import { startPlatform, type CallOptions, type TestPlatform, type TestPlatformOptions } from '../support/platform.ts';

const MIB = 1024 * 1024;
const BLOB = /^[0-9a-f]{32}$/;

/** Two nodes on one database and storage. The agents of the clusters dial one or the other. */
describeDialects<unknown>('snapshots of sandboxes in connected clusters', migrations, (database) => {
  let folder: TemporaryFolder;
  let access: FakeAccess;
  let pods: FakePods;
  let own: Record<'a' | 'b', FakeDriver>;
  let blobs: FolderBlobs;
  let clusters: FakeClusters;
  let a: TestPlatform;
  let b: TestPlatform;
  let home: string;
  let diskLimitMib: number | null;
  const others: TestPlatform[] = [];

  const start = (node: 'a' | 'b', options: TestPlatformOptions = {}): Promise<TestPlatform> =>
    startPlatform({
      driver: own[node],
      node,
      access,
      database: database(),
      clusters: clusters.on(node),
      archives: blobs,
      quotaLimits: () => quotaLimits,
      publicUrl: 'https://platform.example.com', // from which their nodes pull images
      ...options,
    });
  const quotaLimits: QuotaLimits = {
    ...unlimitedQuotas,
    readLimits: async (uuid) => ({
      ...(await unlimitedQuotas.readLimits(uuid)),
      workspace: diskLimitMib === null ? {} : { sandbox_disk: diskLimitMib },
    }),
  };

  beforeEach(async () => {
    diskLimitMib = null;
    folder = await temporaryFolder();
    blobs = new FolderBlobs(join(folder.path, 'blobs'));
    access = fakeAccess();
    pods = new FakePods();
    own = { a: new FakeDriver(), b: new FakeDriver() };
    clusters = new FakeClusters(pods);
    a = await start('a');
    b = await start('b');
    home = clusters.add(a.owner.workspaceUuid, 'home');
    await dial('a');
  });
  afterEach(async () => {
    for (const platform of [a, b, ...others.splice(0)]) await platform.dispose();
    for (const driver of [pods, own.a, own.b]) await driver.dispose();
    await folder.remove();
  });

  const kysely = (): Kysely<SandboxTables> => database().kysely; // migrated with every module's tables
  const create = (at: TestPlatform, fields: object = {}, options: CallOptions = {}) =>
    at.call('POST', '/api/sandboxes?wait_ms=10000', {
      caller: a.owner,
      ...options,
      body: { image: 'busybox', cluster: 'home', ...fields },
    });
  const running = async (at = a, fields: object = {}): Promise<string> => {
    const made = await create(at, fields);
    expect(made).toMatchObject({ status: 201, body: { status: 'running', cluster: 'home' } });
    return made.body['id'];
  };
  const take = (id: string, at = a) => at.call('POST', `/api/sandboxes/${id}/snapshots`, { caller: a.owner, body: {} });
  const taken = async (id: string, at = a): Promise<string> => {
    const answer = await take(id, at);
    expect(answer).toMatchObject({ status: 201, body: { archived_at: expect.any(String), archive_error: null } });
    return answer.body['id'];
  };
  const from = (snapshot: string, cluster: string | null = 'home'): object => ({
    image: undefined,
    snapshot_id: snapshot,
    cluster: cluster ?? undefined,
  });
  const read = async (id: string, at = a) => (await at.call('GET', `/api/sandboxes/${id}`, { caller: a.owner })).body;
  const listed = async (at = a): Promise<number> =>
    (await at.call('GET', '/api/snapshots', { caller: a.owner })).body['count'];
  const dial = async (node: 'a' | 'b', id = home): Promise<void> => {
    const before = clusters.opened.length;
    clusters.dial(id, node);
    await waitFor(() => clusters.opened.length > before);
    await waitFor(async () => {
      const { body } = await a.call('GET', '/api/sandbox-clusters', { caller: a.owner });
      return body['clusters'].some((each: { id: string; connected: boolean }) => each.id === id && each.connected);
    });
  };
  const newestEvent = async (id: string): Promise<unknown> =>
    (await a.call('GET', `/api/sandboxes/${id}/events?format=json`)).body['events'][0];
  const rows = () => kysely().selectFrom('sandbox_archive').selectAll().execute();
  const snapshotRows = () => kysely().selectFrom('sandbox_snapshot').selectAll().execute();
  const assertNothingStored = async (): Promise<void> => {
    await waitFor(async () => (await rows()).length + (await snapshotRows()).length === 0);
    expect(await blobs.list()).toEqual([]);
  };

  it('are complete in the storage once they are answered, are listed anywhere, and are deleted with their bytes', async () => {
    const id = await running();
    const snapshot = await taken(id);
    expect(await blobs.list()).toEqual([expect.stringMatching(BLOB)]);
    expect([own.a.kept.size, await listed(b)]).toEqual([0, 1]);
    const [row] = await rows();
    expect(row).toMatchObject({ state: 'ready', snapshot_id: snapshot, format: 'pods', base: null });
    expect(Number(row?.unpacked_bytes)).toBe(`files of ${id} `.length);
    const { body } = await b.call('GET', `/api/snapshots/${snapshot}`, { caller: a.owner });
    expect(body).toMatchObject({ sandbox_id: id, cluster_id: home, size_bytes: Number(row?.size_bytes) });
    expect(await newestEvent(id)).toMatchObject({ type: 'snapshot_created', details: { snapshot_id: snapshot } });
    expect(pods.sandboxes.get(id)).toMatchObject({ paused: false });
    expect((await b.call('DELETE', `/api/snapshots/${snapshot}`, { caller: a.owner })).status).toBe(200);
    await assertNothingStored();
  });

  it('make sandboxes wherever the tunnel is, and in other clusters of the workspace, also when theirs was removed', async () => {
    const id = await running();
    const snapshot = await taken(id);
    await dial('b');
    const there = await running(a, from(snapshot));
    expect(pods.restored.get(there)).toBe(`files of ${id}`);
    const second = clusters.add(a.owner.workspaceUuid, 'second');
    await dial('a', second);
    clusters.remove(home);
    const made = await create(b, from(snapshot, 'second'));
    expect(made).toMatchObject({ status: 201, body: { status: 'running', cluster: 'second', snapshot_id: snapshot } });
    expect(pods.restored.get(made.body['id'])).toBe(`files of ${id}`);
  });

  it('are told as a capability of each cluster', async () => {
    const { body } = await a.call('GET', '/api/sandbox-clusters');
    const lacks: string[] = body['clusters'][0].missing_capabilities;
    expect(lacks).toEqual(expect.arrayContaining(['egress_allow', 'gpus', 'templates']));
    expect(lacks).not.toContain('snapshots');
  });

  it('are refused in clusters of other workspaces, to other workspaces, and to guests', async () => {
    const snapshot = await taken(await running());
    const stranger = access.user('stranger@example.org');
    clusters.dial(clusters.add(stranger.workspaceUuid, 'theirs'), 'a');
    await waitFor(() => clusters.opened.length === 2);
    const count = pods.sandboxes.size;
    expect(await create(a, from(snapshot, 'theirs'))).toMatchObject({ status: 400, body: { code: 'UNKNOWN_CLUSTER' } });
    expect(await create(a, from(snapshot, 'theirs'), { caller: stranger })).toMatchObject({
      status: 404,
      body: { code: 'SNAPSHOT_NOT_FOUND' },
    });
    expect(await create(a, from(snapshot), { caller: access.guest() })).toMatchObject({
      status: 403,
      body: { code: 'CLUSTERS_OF_GUESTS' },
    });
    expect((await a.call('GET', `/api/snapshots/${snapshot}`, { caller: stranger })).status).toBe(404);
    expect((await a.call('DELETE', `/api/snapshots/${snapshot}`, { caller: stranger })).status).toBe(404);
    expect(pods.sandboxes.size).toBe(count);
  });

  it('are refused by name where they cannot be read', async () => {
    const snapshot = await taken(await running());
    const refused = await create(a, from(snapshot, null));
    expect(refused).toMatchObject({ status: 409, body: { code: 'SNAPSHOT_UNSUPPORTED' } });
    expect(refused.body['error']).toContain('taken in a cluster, and the driver fake does not read snapshots of pods');
    const plain = await create(a, { cluster: undefined });
    const local = (await take(plain.body['id'])).body['id'];
    await waitFor(async () => {
      const { body } = await a.call('GET', `/api/snapshots/${local}`);
      return body['archived_at'] !== null;
    });
    expect(await create(a, from(local))).toMatchObject({
      status: 409,
      body: { code: 'SNAPSHOT_UNSUPPORTED', error: expect.stringContaining('taken by the driver fake') },
    });
    expect((await create(a, from(local, null))).status).toBe(201);
  });

  it("make sandboxes of the platform's own driver if that runs pods", async () => {
    const id = await running();
    const snapshot = await taken(id);
    Object.assign(own.a.snapshots.archives ?? {}, { format: 'pods' });
    const made = await create(a, from(snapshot, null));
    expect(made).toMatchObject({ status: 201, body: { status: 'running', cluster: null } });
    expect(own.a.restored.get(made.body['id'])).toBe(`files of ${id}`);
  });

  it('are made for a fork, and removed when the forks run', async () => {
    const id = await running(a, { on_node_lost: 'restore' });
    const { status, body } = await a.call('POST', `/api/sandboxes/${id}/fork?wait_ms=10000`, { body: { count: 2 } });
    expect(status).toBe(201);
    for (const made of body['containers']) {
      expect(made).toMatchObject({ status: 'running', cluster: 'home', on_node_lost: 'restore' });
      expect(pods.restored.get(made.id)).toBe(`files of ${id}`);
    }
    expect(await listed()).toBe(0);
    await assertNothingStored();
  });

  it('leave forks to the right of who forked', async () => {
    const id = await running();
    const team = access.team(a.owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const query = `?wait_ms=10000&workspace_uuid=${a.owner.workspaceUuid}&team_uuid=${team}`;
    const { body } = await a.call('POST', `/api/sandboxes/${id}/fork${query}`, { caller: member, body: {} });
    const forked: string = body['containers'][0].id;
    expect(await read(forked)).toMatchObject({ status: 'running', cluster: 'home' });
    access.leave(team, member);
    await waitFor(async () => (await read(forked))['status'] === 'stopped', { timeoutMs: 30_000 });
    expect(await read(forked)).toMatchObject({ state_reason: 'CLUSTER_RIGHT_REVOKED' });
    expect(await read(id)).toMatchObject({ status: 'running' });
  });

  it('count towards the disk quota with what may arrive, then with what did', async () => {
    const id = await running(a, { resources: { disk_mb: 128 } });
    pods.copyBytes = 300 * MIB;
    diskLimitMib = 400;
    const refused = await take(id);
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'QUOTA_EXCEEDED', details: { quota: 'sandbox_disk' } },
    });
    await assertNothingStored();
    expect(pods.sandboxes.get(id)).toMatchObject({ paused: false });
    diskLimitMib = 600;
    await taken(id);
    await taken(id); // the first one is small after all
  });

  it('do not exist when the files end early, arrive damaged, or cannot be stored', async () => {
    const id = await running();
    pods.filesOf = async function* () {
      yield* chunksOf('some of the files');
      throw new Error('the tunnel broke');
    };
    expect((await take(id)).status).toBe(500);
    await assertNothingStored();
    expect(await newestEvent(id)).toMatchObject({ type: 'snapshot_failed', details: { message: expect.any(String) } });
    pods.filesOf = () => chunksOf('files');
    blobs.beforeSeal = () => Promise.reject(new Error('the engine is away'));
    expect((await take(id)).status).toBe(500);
    await assertNothingStored();
    expect(pods.sandboxes.get(id)).toMatchObject({ paused: false });
    expect(await read(id)).toMatchObject({ status: 'running' });
  });

  it('are not taken for leftovers while they are being taken', async () => {
    const [slow, quick] = [await running(), await running()];
    const removed = await taken(quick);
    let isSending = false;
    const rest = Promise.withResolvers<void>();
    pods.filesOf = async function* (id) {
      isSending = true;
      await rest.promise;
      yield* chunksOf(`files of ${id}`);
    };
    const taking = take(slow);
    await waitFor(() => isSending);
    await a.call('DELETE', `/api/snapshots/${removed}`); // wakes the check for leftovers
    await waitFor(async () => (await rows()).length === 1);
    rest.resolve();
    expect(await taking).toMatchObject({ status: 201 });
    expect(await blobs.list()).toHaveLength(1);
  });

  it('leave their slot to others while their sandbox starts', async () => {
    const [first, stuck, other] = [await running(), await running(), await running()];
    const rest = Promise.withResolvers<void>();
    pods.filesOf = async function* (id) {
      if (id === first) await rest.promise;
      yield* chunksOf(`files of ${id}`);
    };
    const taking = take(first);
    await waitFor(async () => (await rows()).length === 1);
    const waiting = take(stuck); // a workspace has one slot
    await waitFor(async () => (await snapshotRows()).length === 2);
    const starts = Promise.withResolvers<void>();
    pods.beforeStart = () => starts.promise;
    await a.call('POST', `/api/sandboxes/${stuck}/stop`);
    await a.call('POST', `/api/sandboxes/${stuck}/start?wait_ms=0`);
    rest.resolve();
    expect((await taking).status).toBe(201);
    const taken = take(other);
    try {
      await waitFor(async () => (await rows()).filter(({ state }) => state === 'ready').length === 2);
      expect(await read(stuck)).toMatchObject({ status: 'creating' });
    } finally {
      starts.resolve();
    }
    expect([(await taken).status, (await waiting).status]).toEqual([201, 201]);
  });

  it('do not exist when the platform is killed in between, whatever its last process does later', async () => {
    const id = await running();
    let isSending = false;
    const rest = Promise.withResolvers<void>();
    pods.filesOf = async function* () {
      isSending = true;
      yield* chunksOf('some of the files');
      await rest.promise;
    };
    const killed = take(id);
    await waitFor(() => isSending);
    expect((await snapshotRows()).map(({ state }) => state)).toEqual(['making']);
    expect(await listed(b)).toBe(0);
    others.push(await start('a')); // the next process of the node
    await waitFor(async () => (await snapshotRows()).length === 0 && (await rows()).length === 0);
    expect(await newestEvent(id)).toMatchObject({
      type: 'snapshot_failed',
      details: { message: 'the platform was restarted' },
    });
    rest.resolve();
    expect((await killed).status).toBe(404);
    await assertNothingStored();
  });

  it('are forgotten if their node never returns', async () => {
    const id = await running();
    let isSending = false;
    const rest = Promise.withResolvers<void>();
    pods.filesOf = async function* () {
      isSending = true;
      yield* chunksOf('some of the files');
      await rest.promise;
    };
    const lost = take(id);
    await waitFor(() => isSending);
    const nodes = { isLive: async () => true, live: async () => [], silent: async () => ['a'] };
    others.push(await start('b', { nodes, driver: own.b }));
    await waitFor(async () => (await snapshotRows()).length === 0);
    expect((await rows()).map(({ state }) => state)).toEqual(['abandoned']);
    rest.resolve();
    expect((await lost).status).toBe(404);
    await assertNothingStored();
  });

  it('need no driver of the node', async () => {
    own.a.setStatus({ available: false, reason: 'nothing here', install: null });
    clusters.hangUp(home); // so that the next tunnel is the only one
    await a.close();
    await a.reopen();
    await dial('a');
    const snapshot = await taken(await running());
    await running(a, from(snapshot));
    await a.call('DELETE', `/api/snapshots/${snapshot}`);
    await assertNothingStored();
  });

  it('are refused by name without a storage that every node reaches', async () => {
    await dial('b');
    const id = await running(b);
    await b.dispose();
    const { archives: _, ...without } = { archives: blobs, driver: own.b };
    b = await startPlatform({
      ...without,
      node: 'b',
      access,
      database: database(),
      clusters: clusters.on('b'),
      publicUrl: 'https://platform.example.com',
    });
    await waitFor(async () => (await take(id, b)).body['code'] === 'SNAPSHOTS_UNSTORED', { timeoutMs: 20_000 });
    expect((await create(b, { on_node_lost: 'restore' })).body['code']).toBe('RESTORE_UNAVAILABLE');
    const { body } = await b.call('GET', '/api/sandbox-clusters', { caller: a.owner });
    expect(body['clusters'][0].missing_capabilities).toContain('snapshots');
  });

  it('do not replace a sandbox whose cluster is only away', async () => {
    const id = await running(a, { on_node_lost: 'restore' });
    await taken(id);
    const helper = pods.sandboxes.get(id)?.helper;
    clusters.hangUp(home);
    await waitFor(async () => (await read(id))['error']?.code === 'CLUSTER_OFFLINE', { timeoutMs: 40_000 });
    await dial('b');
    await waitFor(async () => (await read(id, b))['status'] === 'running');
    expect(await read(id, b)).toMatchObject({ snapshot_id: null });
    expect(pods.sandboxes.get(id)?.helper).toBe(helper);
  });
});
