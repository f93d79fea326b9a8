import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { describeDialects, waitFor } from '@svc/testing';
import { Sandbox, Volume } from 'e2b';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeRepository } from '../../src/store/node-repository.ts';
import { BuildingDriver } from '../support/building-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';

/** Nothing is archived here, so that only the node of a snapshot or a template has its files. */
describeDialects<unknown>('new sandboxes of two replicas', migrations, (database) => {
  const drivers: BuildingDriver[] = [];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let live: string[];

  beforeEach(async () => {
    live = ['node-1', 'node-2'];
    const network = await createInternalNetwork();
    const start = (node: string, access?: TestPlatform['access']): Promise<TestPlatform> => {
      const driver = new BuildingDriver();
      drivers.push(driver);
      const nodes = { isLive: async () => true, live: async () => live, silent: async () => [] };
      const config = { max_running: 3 };
      return startPlatform({ driver, node, network, nodes, config, database: database(), ...(access && { access }) });
    };
    asked = await start('node-1');
    holder = await start('node-2', asked.access);
  });
  afterEach(async () => {
    await holder.close();
    await asked.dispose();
    await holder.dispose();
    for (const driver of drivers.splice(0)) await driver.dispose();
  });

  const at = (platform: TestPlatform, method: string, path: string, body?: unknown): Promise<Answer> =>
    platform.call(method, `/api${path}`, { caller: asked.owner, ...(body === undefined ? {} : { body }) });
  const create = (body: Record<string, unknown>): Promise<Answer> =>
    at(asked, 'POST', '/sandboxes?wait_ms=10000', { image: 'busybox', ...body });
  const running = { status: 201, body: { status: 'running' } };
  /** How many sandboxes each replica has created. */
  const created = (): number[] =>
    [asked, holder].map(({ audit }) => audit.entries.filter(({ action }) => action === 'sandbox:create').length);
  /** On the second node. */
  const build = async (): Promise<void> => {
    live = ['node-2'];
    const { body } = await at(asked, 'POST', '/templates/tools/builds', { from: 'busybox' });
    const path = `/templates/tools/builds/${body['id']}`;
    await waitFor(async () => (await at(asked, 'GET', path)).body['status'] === 'ready');
    expect((await at(asked, 'GET', path)).body).toMatchObject({ node: 'node-2' });
    live = ['node-1', 'node-2'];
  };

  it('start where the volume is that they mount, and are recorded once', async () => {
    await at(holder, 'POST', '/volumes', { name: 'data' });
    const volumes = [{ name: 'data', path: '/data' }];
    const environment = { TEXT: 'ä "quoted"' };
    const made = await create({ name: 'one', volumes, environment });
    expect(made).toMatchObject({ status: 201, body: { status: 'running', environment } });
    expect(created()).toEqual([0, 1]);
    expect(await create({ name: 'two' })).toMatchObject(running);
    expect(created()).toEqual([1, 1]);
    expect(await create({ name: 'one', volumes })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } });
  });

  it('start where their snapshot or their template is', async () => {
    const { body } = await at(holder, 'POST', '/sandboxes?wait_ms=10000', { image: 'busybox' });
    const taken = await at(asked, 'POST', `/sandboxes/${body['id']}/snapshots`, {});
    expect(await create({ image: undefined, snapshot_id: taken.body['id'] })).toMatchObject(running);
    await build();
    expect(await create({ image: undefined, template: 'tools' })).toMatchObject(running);
    expect(created()).toEqual([0, 3]);
  });

  it('and volumes from a volume snapshot are where that is', async () => {
    await at(holder, 'POST', '/volumes', { name: 'data' });
    const taken = await at(asked, 'POST', '/volumes/data/snapshots', { name: 'copy' });
    const made = await at(asked, 'POST', '/volumes', { name: 'other', snapshot_id: taken.body['id'] });
    expect(made).toMatchObject({ status: 201, body: { name: 'other', node: 'node-2' } });
    expect((await at(asked, 'POST', '/volumes', { name: 'empty' })).body['node']).toBe('node-1');
  });

  it('start there for E2B clients, too', async () => {
    const options = {
      apiUrl: `${asked.url}/e2b`,
      sandboxUrl: `${asked.url}/e2b/envd`,
      apiKey: asked.owner.token,
      validateApiKey: false,
    };
    const volume = await Volume.create('data', { ...options, apiUrl: `${holder.url}/e2b` });
    const mounting = await Sandbox.create('busybox', { ...options, volumeMounts: { '/data': volume } });
    await build();
    const built = await Sandbox.create('tools', options);
    const { snapshotId } = await mounting.createSnapshot();
    const copied = await Sandbox.create(snapshotId, options);
    expect(created()).toEqual([0, 3]);
    for (const sandbox of [mounting, built, copied]) expect(await sandbox.isRunning()).toBe(true);
  });

  it('are refused with the node of their volume while no replica serves it', async () => {
    await at(holder, 'POST', '/volumes', { name: 'data' });
    await holder.close();
    const refused = await create({ volumes: [{ name: 'data', path: '/data' }] });
    expect(refused).toMatchObject({ status: 409, body: { code: 'VOLUME_ELSEWHERE', details: { node: 'node-2' } } });
  });

  it('do not reach what belongs to another workspace', async () => {
    await at(holder, 'POST', '/volumes', { name: 'data' });
    const stranger = asked.access.user('stranger@example.org');
    const body = { image: 'busybox', volumes: [{ name: 'data', path: '/data' }] };
    const answer = await asked.call('POST', '/api/sandboxes', { caller: stranger, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'UNKNOWN_VOLUME' } });
    expect(created()).toEqual([1, 0]); // where it was refused
  });

  it('start on the other node if the asked one is drained, and so do volumes and E2B clients', async () => {
    await createNodeRepository(database()).setDraining('node-1', true);
    let count = 0;
    const place = async (): Promise<unknown> => {
      count += 1;
      return (await at(asked, 'POST', '/volumes', { name: `data-${count}` })).body['node'];
    };
    await expect.poll(place).toBe('node-2'); // once the drain is known there
    expect(await create({})).toMatchObject(running);
    const options = { apiUrl: `${asked.url}/e2b`, apiKey: asked.owner.token, validateApiKey: false };
    await Sandbox.create('busybox', options);
    expect(created()).toEqual([0, 2]);
    live = ['node-1'];
    expect(await create({})).toMatchObject({ status: 503, body: { code: 'NODE_DRAINING' } });
  });

  it('start on the other node if the asked one is full, and are refused if both are', async () => {
    for (let index = 0; index < 6; index += 1) expect(await create({})).toMatchObject(running);
    expect(created()).toEqual([3, 3]);
    expect(await create({})).toMatchObject({ status: 503, body: { code: 'NO_CAPACITY' } });
    const [first] = [...(drivers[0]?.sandboxes.keys() ?? [])];
    await at(asked, 'POST', `/sandboxes/${first}/stop`);
    expect(await create({})).toMatchObject(running);
  });
});
