import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { backgroundClock, type Clock } from '@svc/runtime';
import type { Database } from '@svc/sql';
import {
  fakeAccess,
  openMigratedFile,
  temporaryFolder,
  waitFor,
  type FakeAccess,
  type TemporaryFolder,
} from '@svc/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { missingCapabilities } from '../../src/domain/driver.ts';
import { createNodeAdministration } from '../../src/assembly/node-module.ts';
import { BuildingDriver } from '../support/building-driver.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type CallOptions, type TestPlatform } from '../support/platform.ts';

/** Two nodes on one database. The agent of the cluster dials one or the other. */
describe('sandboxes in connected clusters', () => {
  let folder: TemporaryFolder;
  let database: Database<unknown>;
  let access: FakeAccess;
  let pods: FakeDriver;
  let own: Record<'a' | 'b', FakeDriver>;
  let clusters: FakeClusters;
  let a: TestPlatform;
  let b: TestPlatform;
  let home: string;
  /** Added to the clocks of both nodes. */
  let aheadMs: number;

  beforeEach(async () => {
    folder = await temporaryFolder();
    database = await openMigratedFile<unknown>(join(folder.path, 'svc.db'), migrations);
    access = fakeAccess();
    pods = new FakeDriver();
    own = { a: new BuildingDriver(), b: new FakeDriver() };
    clusters = new FakeClusters(pods);
    aheadMs = 0;
    const nowMs = (): number => backgroundClock.nowMs() + aheadMs;
    const clock: Clock = { ...backgroundClock, nowMs, now: () => new Date(nowMs()) };
    const start = (node: 'a' | 'b'): Promise<TestPlatform> =>
      startPlatform({
        driver: own[node],
        node,
        access,
        database,
        clusters: clusters.on(node),
        clock,
        publicUrl: 'https://platform.example.com', // from which their nodes pull images
        config: { drain_notice_seconds: 0 },
      });
    a = await start('a');
    b = await start('b');
    home = clusters.add(a.owner.workspaceUuid, 'home');
  });
  afterEach(async () => {
    await a.dispose();
    await b.dispose();
    for (const driver of [pods, own.a, own.b]) await driver.dispose();
    await database.close();
    await folder.remove();
  });

  const create = (at: TestPlatform, fields: object = {}, options: CallOptions = {}) =>
    at.call('POST', '/api/sandboxes?wait_ms=10000', {
      caller: a.owner,
      ...options,
      body: { image: 'busybox', cluster: 'home', ...fields },
    });
  const read = async (id: string, at = a) => (await at.call('GET', `/api/sandboxes/${id}`, { caller: a.owner })).body;
  const list = (id: string, at: TestPlatform) =>
    at.call('GET', `/api/sandboxes/${id}/files/list?path=/`, { caller: a.owner });
  const available = (): Promise<unknown> =>
    waitFor(async () => {
      const { body } = await a.call('GET', '/api/sandbox-clusters');
      return body['clusters'].length > 0 && body['clusters'][0].connected;
    });
  const dial = async (node: 'a' | 'b'): Promise<void> => {
    clusters.dial(home, node);
    await available();
  };
  const running = async (at = a): Promise<string> => {
    const made = await create(at);
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'running', cluster: 'home', driver: `cluster:${home}` },
    });
    return made.body['id'];
  };
  const reaches = (id: string, at: TestPlatform): Promise<unknown> =>
    waitFor(async () => (await list(id, at)).body['code'] !== 'CLUSTER_OFFLINE', { description: 'the cluster' });

  it('run there and not on the node, and are deleted there', async () => {
    await dial('a');
    const id = await running();
    expect([[...pods.sandboxes.keys()], own.a.sandboxes.size]).toEqual([[id], 0]);
    expect((await a.call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
    await waitFor(() => pods.sandboxes.size === 0);
  });

  it('are created at any node, and start at the one with the tunnel', async () => {
    await dial('b');
    const id = await running(a);
    expect(await read(id)).toMatchObject({ status: 'running' });
    expect((await list(id, a)).body).toMatchObject({ code: 'SANDBOX_ELSEWHERE', details: { node: 'b' } });
    expect((await list(id, b)).body['code']).not.toBe('SANDBOX_ELSEWHERE');
  });

  it('follow the tunnel to another node without being started again', async () => {
    await dial('a');
    const id = await running();
    const helper = pods.sandboxes.get(id)?.helper;
    clusters.dial(home, 'b');
    await waitFor(async () => (await list(id, a)).body['code'] === 'SANDBOX_ELSEWHERE');
    await reaches(id, b);
    expect(await read(id, b)).toMatchObject({ status: 'running' });
    expect(pods.sandboxes.get(id)?.helper).toBe(helper);
    expect((await b.call('POST', `/api/sandboxes/${id}/stop`, { caller: a.owner })).body).toMatchObject({
      status: 'stopped',
    });
  });

  it('try the network of a cluster once within an hour', async () => {
    await dial('a');
    clusters.dial(home, 'b');
    await waitFor(() => clusters.opened.length === 2);
    expect(clusters.opened).toEqual([
      { node: 'a', isVerified: false },
      { node: 'b', isVerified: true },
    ]);
  });

  it('are refused for clusters of others, unknown ones, and to callers without the right', async () => {
    await dial('a');
    const other = access.user('other@example.org');
    expect(await create(a, {}, { caller: other })).toMatchObject({
      status: 400,
      body: { code: 'UNKNOWN_CLUSTER', details: { field: 'cluster', cluster: 'home' } },
    });
    expect(await create(a, { cluster: home }, { caller: other })).toMatchObject({ body: { code: 'UNKNOWN_CLUSTER' } });
    expect(await create(a, { cluster: 'none' })).toMatchObject({ status: 400, body: { code: 'UNKNOWN_CLUSTER' } });
    expect(await create(a, {}, { caller: access.guest() })).toMatchObject({
      status: 403,
      body: { code: 'CLUSTERS_OF_GUESTS' },
    });
    const reader = access.serviceAccount(a.owner.workspaceUuid, ['read']);
    expect(await create(a, {}, { caller: reader })).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    const listed = await a.call('GET', '/api/sandbox-clusters', { caller: other });
    expect(listed.body).toEqual({ clusters: [], count: 0 });
    expect(pods.sandboxes.size).toBe(0);
  });

  it('are refused while the agent is away, and where it allows none, with the name of the cluster', async () => {
    expect(await create(a)).toMatchObject({
      status: 503,
      body: { code: 'CLUSTER_OFFLINE', message: expect.stringContaining('cluster home') },
    });
    clusters.refusal = 'its agent does not enable sandboxes';
    clusters.dial(home, 'a');
    const refused = (): Promise<unknown> =>
      waitFor(async () => (await create(a)).body['message'].includes('its agent does not enable sandboxes'));
    await refused();
    expect(await create(a)).toMatchObject({ status: 409, body: { code: 'CLUSTER_WITHOUT_SANDBOXES' } });
    expect((await a.call('GET', '/api/sandbox-clusters')).body['count']).toBe(0);
  });

  it('are refused by name what pods lack, wherever the tunnel is', async () => {
    await dial('b');
    const refusals = [
      [{ egress_allow: ['example.com'], network: 'egress' }, 'UNSUPPORTED_EGRESS'],
      [{ on_drain: 'snapshot' }, 'INVALID_FIELD'],
      [{ on_drain: 'move' }, 'INVALID_FIELD'],
      [{ resources: { gpus: 1 } }, 'GPUS_UNAVAILABLE'],
      [{ on_node_lost: 'restore' }, 'RESTORE_UNAVAILABLE'],
      [{ isolation: 'gvisor' }, 'UNSUPPORTED_ISOLATION'],
    ] as const;
    for (const [fields, code] of refusals) expect((await create(a, fields)).body['code']).toBe(code);
  });

  it('are created from a template of the workspace, whichever node built it', async () => {
    const { body: build } = await a.call('POST', '/api/templates/tools/builds', { body: { from: 'busybox' } });
    const path = `/api/templates/tools/builds/${String(build['id'])}`;
    await waitFor(async () => (await a.call('GET', path)).body['status'] === 'ready');
    const digests: unknown[] = [];
    pods.beforeCreate = async ({ template }) => void digests.push(template?.buildId);
    await dial('b');
    const wanted = { image: undefined, template: 'tools' };
    for (const at of [a, b]) {
      expect(await create(at, wanted)).toMatchObject({ status: 201, body: { template_build_id: build['id'] } });
    }
    expect(digests).toEqual([build['id'], build['id']]);
    expect((await create(b, { ...wanted, cluster: undefined })).body['code']).toBe('TEMPLATE_ELSEWHERE');
    const stranger = access.user('stranger@example.org');
    clusters.dial(clusters.add(stranger.workspaceUuid, 'theirs'), 'b');
    expect(await create(b, { ...wanted, cluster: 'theirs' }, { caller: stranger })).toMatchObject({
      status: 404,
      body: { code: 'TEMPLATE_NOT_FOUND' },
    });
  });

  it('are refused by name if their nodes would pull from a platform that only its own machine reaches', async () => {
    await dial('a');
    const driver = new FakeDriver();
    const here = await startPlatform({ driver, node: 'c', access, database, clusters: clusters.on('c') });
    try {
      expect(await create(here)).toMatchObject({
        status: 501,
        body: { code: 'REGISTRY_UNREACHABLE', message: expect.stringMatching(/busybox .* set public_url/) },
      });
    } finally {
      await here.close();
      await driver.dispose();
    }
  });

  it('pause where the tunnel is', async () => {
    await dial('b');
    const id = await running(b);
    const paused = await b.call('POST', `/api/sandboxes/${id}/pause`, { caller: a.owner });
    expect(paused).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(pods.sandboxes.get(id)?.paused).toBe(true);
  });

  it('answer 503 with the name of the cluster while it is away, and continue when it returns', async () => {
    await dial('a');
    const id = await running();
    clusters.hangUp(home);
    expect(await list(id, a)).toMatchObject({
      status: 503,
      body: { code: 'CLUSTER_OFFLINE', message: expect.stringContaining('cluster home') },
    });
    expect((await a.call('POST', `/api/sandboxes/${id}/stop`)).body['code']).toBe('CLUSTER_OFFLINE');
    clusters.dial(home, 'a');
    await reaches(id, a);
    expect(await read(id)).toMatchObject({ status: 'running' });
    expect(pods.sandboxes.get(id)?.helper).not.toBeNull();
  });

  it('are served, and created, after a cluster that returned could not list them at first', async () => {
    await dial('a');
    const id = await running();
    clusters.hangUp(home);
    expect((await list(id, a)).body['code']).toBe('CLUSTER_OFFLINE');
    const asked = Promise.withResolvers<void>();
    const { list: found } = pods;
    pods.list = () => {
      asked.resolve();
      return Promise.reject(new Error('the API server restarts'));
    };
    clusters.dial(home, 'a');
    await asked.promise;
    pods.list = found;
    aheadMs = 60_000; // then it is asked again
    await waitFor(async () => (await create(a)).status === 201);
    expect((await list(id, a)).status).toBe(200);
  });

  it('are deleted while their cluster is away, and there when it returns', async () => {
    await dial('a');
    const id = await running();
    clusters.hangUp(home);
    expect((await a.call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
    expect((await a.call('GET', `/api/sandboxes/${id}`)).status).toBe(404);
    expect(pods.sandboxes.size).toBe(1);
    clusters.dial(home, 'b');
    await waitFor(() => pods.sandboxes.size === 0);
  });

  it('stop when their creators lose the right to the cluster, and do not start again', async () => {
    await dial('a');
    const team = access.team(a.owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const query = `?wait_ms=10000&workspace_uuid=${a.owner.workspaceUuid}&team_uuid=${team}`;
    const body = { image: 'busybox', cluster: 'home' };
    const made = await a.call('POST', `/api/sandboxes${query}`, { caller: member, body });
    expect(made.body).toMatchObject({ status: 'running' });
    const id: string = made.body['id'];
    access.leave(team, member);
    await waitFor(async () => (await read(id))['status'] === 'stopped', { timeoutMs: 30_000 });
    expect(await read(id)).toMatchObject({ state_reason: 'CLUSTER_RIGHT_REVOKED' });
    expect(await a.call('POST', `/api/sandboxes/${id}/start`)).toMatchObject({
      status: 403,
      body: { code: 'CLUSTER_FORBIDDEN' },
    });
    access.join(team, member, 'member');
    expect((await a.call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`)).body).toMatchObject({
      status: 'running',
    });
  });

  it('are lost when their cluster is removed, and can be deleted', async () => {
    await dial('a');
    const id = await running();
    clusters.remove(home);
    await waitFor(async () => (await read(id))['error']?.code === 'CLUSTER_REMOVED', { timeoutMs: 30_000 });
    expect(await read(id)).toMatchObject({ status: 'error', error: { recoverable: false } });
    expect(await create(a)).toMatchObject({ body: { code: 'UNKNOWN_CLUSTER' } });
    expect((await a.call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
  });

  it('run on while the node with the tunnel is drained, which stops its own', async () => {
    await dial('a');
    const id = await running();
    const other = await a.call('POST', '/api/sandboxes?wait_ms=10000', { body: { image: 'busybox' } });
    const nodes = createNodeAdministration(database);
    await nodes.drain('a');
    await waitFor(async () => (await read(other.body['id']))['status'] === 'stopped', { timeoutMs: 30_000 });
    expect(await read(id)).toMatchObject({ status: 'running' });
    const drained = async () => (await nodes.list()).find(({ node }) => node === 'a');
    await waitFor(async () => (await drained())?.toDrain === 0);
    expect(await drained()).toMatchObject({ running: 0, total: 1 });
    await running();
  });

  it('keep no node from closing while their cluster does not answer a sweep', async () => {
    await dial('a');
    const asked = Promise.withResolvers<void>();
    const disconnected = Promise.withResolvers<void>();
    const { stop, close } = pods;
    pods.stop = async () => {
      asked.resolve();
      await disconnected.promise;
      throw new Error('the connection has ended');
    };
    pods.close = async () => disconnected.resolve(); // as the driver of a cluster ends its requests
    const made = await create(a, { on_expiry: 'stop' });
    const path = `/api/sandboxes/${made.body['id']}`;
    expect((await a.call('PATCH', path, { body: { expires_in_seconds: 1 } })).status).toBe(200);
    await asked.promise;
    await a.close();
    Object.assign(pods, { stop, close });
    await a.reopen();
  });

  it('need no driver of the node', async () => {
    own.a.setStatus({ available: false, reason: 'nothing here', install: null });
    await a.close();
    await a.reopen();
    await dial('a');
    await running();
  });

  it('tell at every node what they lack there, as the agent was set up', async () => {
    const missing = async (): Promise<string[]> => {
      const { body } = await b.call('GET', '/api/sandbox-clusters', { caller: a.owner });
      return body['clusters'][0]?.missing_capabilities ?? [];
    };
    await dial('a');
    expect(await missing()).toEqual([...missingCapabilities(pods), 'snapshots'].toSorted()); // there is no storage for them
    expect(await missing()).toContain('gpus');
    pods.hasGpus = true;
    clusters.hangUp(home);
    await dial('a');
    await waitFor(async () => !(await missing()).includes('gpus'));
    // A node of an earlier version reports none: then it is what pods lack anywhere.
    await sql`UPDATE sandbox_cluster SET missing_capabilities = NULL`.execute(database.kysely);
    expect(await missing()).toEqual(expect.arrayContaining(['disk_usage', 'gpus']));
  });
});
