import { createHash } from 'node:crypto';
import { createInternalNetwork, type InternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock, waitFor, type FakeCaller, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeRepository } from '../../src/store/node-repository.ts';
import { BuildingDriver } from '../support/building-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

/** Longer than a node remembers who builds for a workspace. */
const FORGOTTEN_MS = 1_000;
const NODES = ['node-1', 'node-2', 'node-3'] as const;

describeDialects<unknown>('template builds of three replicas', migrations, (database) => {
  const drivers: BuildingDriver[] = [];
  const platforms: TestPlatform[] = [];
  let live: Set<string>;
  let clock: FakeClock;
  let network: InternalNetwork;
  let owner: FakeCaller;

  beforeEach(async () => {
    network = await createInternalNetwork();
    clock = fakeClock();
    live = new Set(NODES);
    for (const node of NODES) {
      const driver = new BuildingDriver();
      drivers.push(driver);
      const platform = await startPlatform({
        driver,
        node,
        network,
        nodes: { isLive: async (name) => live.has(name), live: async () => [...live], silent: async () => [] },
        database: database(),
        clock,
        ...(platforms[0] && { access: platforms[0].access }),
      });
      platforms.push(platform);
    }
    owner = platforms[0]?.owner ?? expect.fail('no platform');
  });
  afterEach(async () => {
    for (const platform of platforms) await platform.close();
    for (const platform of platforms.splice(0)) await platform.dispose();
    for (const driver of drivers.splice(0)) await driver.dispose();
  });

  /** Asks the replicas in turn, like a balancer without sticky sessions. */
  let turn = 0;
  const next = (): TestPlatform => platforms[(turn += 1) % platforms.length] ?? expect.fail('no platform');
  const call = (method: string, path: string, body?: unknown, caller = owner): Promise<Answer> =>
    next().call(method, `/api/templates${path}`, { caller, ...(body === undefined ? {} : { body }) });
  const upload = async (text: string, caller = owner): Promise<string> => {
    const hash = createHash('sha256').update(text).digest('hex');
    const answer = await fetch(`${next().url}/api/templates/files/${hash}`, {
      method: 'PUT',
      headers: { ...caller.headers, 'content-type': 'application/x-tar' },
      body: text,
    });
    expect(answer.status).toBe(200);
    return hash;
  };
  const build = async (name: string, body: unknown = { from: 'busybox' }, caller = owner): Promise<Answer['body']> => {
    const started = await call('POST', `/${name}/builds`, body, caller);
    expect(started).toMatchObject({ status: 202 });
    const path = `/${name}/builds/${started.body['id']}`;
    return waitFor(async () => {
      const { body: now } = await call('GET', path, undefined, caller);
      return now['status'] !== 'building' && now;
    });
  };
  const nodeOf = async (name: string, caller = owner): Promise<string> =>
    (await build(name, undefined, caller))['node'];
  const forget = (): Promise<void> => clock.advance(FORGOTTEN_MS);
  const drain = (node: string, isDraining: boolean): Promise<boolean> =>
    createNodeRepository(database()).setDraining(node, isDraining);

  it('find files that were uploaded at any of them, and are cancelled at any of them', async () => {
    const hash = await upload('an archive');
    for (const _ of NODES) expect((await call('GET', `/files/${hash}`)).body).toMatchObject({ present: true });
    const gate = Promise.withResolvers<void>();
    for (const driver of drivers) driver.beforeCreate = () => gate.promise;
    for (const _ of NODES) {
      const copying = { dockerfile: 'FROM busybox\nCOPY x /', files: [hash] };
      const started = await call('POST', '/copying/builds', copying);
      expect(started).toMatchObject({ status: 202 });
      const cancelled = await call('POST', `/copying/builds/${started.body['id']}/cancel`);
      expect(cancelled).toMatchObject({ status: 200, body: { status: 'error' } });
    }
    gate.resolve();
  });

  it('of E2B clients find their files and their builds at any of them', async () => {
    const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
      next().call(method, `/e2b${path}`, {
        caller: null,
        headers: { 'x-api-key': owner.token },
        ...(body === undefined ? {} : { body }),
      });
    const made = await ask('POST', '/v3/templates', { name: 'copied' });
    const { templateID: id, buildID: buildId } = made.body;
    const { url, present } = (await ask('GET', `/templates/${id}/files/abc`)).body;
    expect(present).toBe(false);
    const signed = new URL(url).pathname;
    const sent = await fetch(`${next().url}${signed}`, { method: 'PUT', body: 'an archive' });
    expect(sent.status).toBe(200);
    for (const _ of NODES) {
      expect((await ask('GET', `/templates/${id}/files/abc`)).body).toMatchObject({ present: true });
    }
    const steps = [{ type: 'COPY', args: ['file', '/file', '', ''], filesHash: 'abc' }];
    expect(await ask('POST', `/v2/templates/${id}/builds/${buildId}`, { fromImage: 'busybox', steps })).toMatchObject({
      status: 202,
    });
  });

  it('of one workspace stay on one node, and those of many are spread', async () => {
    const first = await nodeOf('one');
    for (const name of ['two', 'three', 'four']) expect(await nodeOf(name)).toBe(first);
    const others = Array.from({ length: 12 }, (_each, index) => platforms[0]?.access.user(`user-${index}`) ?? owner);
    const nodes = new Set<string>();
    for (const caller of others) nodes.add(await nodeOf('theirs', caller));
    expect(nodes.size).toBeGreaterThan(1);
  });

  it('move to another node if theirs is drained or down, and stay there', async () => {
    const first = await nodeOf('tools');
    await drain(first, true);
    await forget();
    const second = await nodeOf('tools');
    expect(second).not.toBe(first);
    await drain(first, false);
    await forget();
    expect(await nodeOf('tools')).toBe(second);
    live.delete(second);
    await forget();
    expect(await nodeOf('tools')).not.toBe(second);
  });

  it('of another workspace are not there, also for a replica that does not build for it', async () => {
    const { id } = await build('tools');
    const stranger = platforms[0]?.access.user('stranger') ?? owner;
    const hash = await upload('theirs', stranger);
    for (const _ of NODES) {
      expect((await call('POST', `/tools/builds/${id}/cancel`, undefined, stranger)).status).toBe(404);
      expect((await call('POST', '/tools/builds/no-id/cancel')).status).toBe(404);
      expect((await call('GET', `/files/${hash}`)).body).toMatchObject({ present: false });
    }
  });
});
