import { migrations } from '@svc/migrations';
import { describeDialects, fakeAccess, fakeClock, type FakeAccess, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sandboxErrors } from '../../src/errors.ts';
import { FakeClusters } from '../support/fake-clusters.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { FakePods } from '../support/fake-pods.ts';
import { passTimeUntil } from '../support/pass-time.ts';
import { startPlatform, type CallOptions, type TestPlatform } from '../support/platform.ts';

/** The first stop of each test fails, as while the API server of a cluster restarts. */
describeDialects<unknown>('stops that fail', migrations, (database) => {
  let access: FakeAccess;
  let clock: FakeClock;
  let own: FakeDriver;
  let pods: FakePods;
  let platform: TestPlatform;
  /** Grace of each stop, in milliseconds. */
  let graces: number[];
  let isFailing: boolean;

  beforeEach(async () => {
    access = fakeAccess();
    clock = fakeClock();
    own = new FakeDriver();
    pods = new FakePods();
    const clusters = new FakeClusters(pods);
    platform = await startPlatform({
      driver: own,
      node: 'a',
      access,
      clock,
      database: database(),
      clusters: clusters.on('a'),
      publicUrl: 'https://platform.example.com',
    });
    clusters.dial(clusters.add(platform.owner.workspaceUuid, 'home'), 'a');
    await until(async () => (await call('GET', '/api/sandbox-clusters')).body['clusters'][0]?.connected === true);
    graces = [];
    isFailing = true;
    for (const driver of [own, pods]) {
      const stop = driver.stop.bind(driver);
      const stopOrFail: (id: string, graceMs: number) => Promise<void> = (id, graceMs) => {
        graces.push(graceMs);
        if (isFailing) return Promise.reject(sandboxErrors.RUNTIME_FAILED({ details: { reason: 'restarting' } }));
        return stop(id);
      };
      driver.stop = stopOrFail as typeof driver.stop; // the fake needs no grace
    }
  });
  afterEach(async () => {
    isFailing = false;
    await platform.dispose();
    for (const driver of [own, pods]) await driver.dispose();
  });

  const until = (condition: () => boolean | Promise<boolean>): Promise<void> => passTimeUntil(clock, condition);
  const call = (method: string, path: string, options: CallOptions = {}) => platform.call(method, path, options);
  const create = async (fields: object = {}, options: CallOptions = {}, query = ''): Promise<string> => {
    const made = await call('POST', `/api/sandboxes?wait_ms=10000${query}`, {
      ...options,
      body: { image: 'busybox', ...fields },
    });
    return String(made.body['id']);
  };
  const read = async (id: string) => (await call('GET', `/api/sandboxes/${id}`)).body;
  const ends = (driver: FakeDriver, id: string): Promise<unknown> =>
    until(async () => !(await driver.inspect(id)).running);

  it('are repeated when the creator has lost the right to the cluster, without a grace', async () => {
    const team = access.team(platform.owner.workspaceUuid);
    const member = access.user('member@example.org');
    access.join(team, member, 'member');
    const query = `&workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const id = await create({ cluster: 'home' }, { caller: member }, query);
    access.leave(team, member);
    await until(() => graces.length > 0);
    expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'CLUSTER_RIGHT_REVOKED' });
    expect(await pods.inspect(id)).toMatchObject({ running: true });
    isFailing = false;
    await ends(pods, id);
    expect(new Set(graces)).toEqual(new Set([0]));
  });

  it.each([
    ['in a cluster', () => pods, { cluster: 'home' }],
    ['on the node', () => own, {}],
  ])('of a user are repeated by the sweep and by the next one %s', async (_where, driver, fields) => {
    const [swept, repeated] = [await create(fields), await create(fields)];
    for (const id of [swept, repeated]) {
      expect((await call('POST', `/api/sandboxes/${id}/stop`)).status).toBe(500);
      expect((await call('POST', `/api/sandboxes/${id}/stop`)).status).toBe(500);
      expect(await driver().inspect(id)).toMatchObject({ running: true });
    }
    isFailing = false;
    expect((await call('POST', `/api/sandboxes/${repeated}/stop`)).status).toBe(200);
    expect(await driver().inspect(repeated)).toMatchObject({ running: false });
    await ends(driver(), swept);
    expect(await read(swept)).toMatchObject({ status: 'stopped', state_reason: 'STOPPED_BY_USER' });
  });

  it('after a failed start are repeated', async () => {
    pods.connect = () => Promise.reject(sandboxErrors.AGENT_TIMEOUT());
    const id = await create({ cluster: 'home' });
    await until(async () => (await read(id))['status'] === 'error');
    await until(() => graces.length > 0);
    expect(await pods.inspect(id)).toMatchObject({ running: true });
    isFailing = false;
    await ends(pods, id);
  });

  it('after the loss of a connection are repeated', async () => {
    const id = await create({ cluster: 'home' });
    pods.connect = () => Promise.reject(sandboxErrors.AGENT_TIMEOUT());
    await pods.sandboxes.get(id)?.helper?.close();
    await until(async () => (await read(id))['status'] === 'error');
    await until(() => graces.length > 0);
    expect(await pods.inspect(id)).toMatchObject({ running: true });
    isFailing = false;
    await ends(pods, id);
  });

  it('leave alone what was started again', async () => {
    const id = await create({ cluster: 'home' });
    expect((await call('POST', `/api/sandboxes/${id}/stop`)).status).toBe(500);
    expect((await call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`)).body).toMatchObject({ status: 'running' });
    graces = [];
    isFailing = false;
    await clock.advance(20_000);
    expect([graces, await read(id)]).toMatchObject([[], { status: 'running' }]);
  });
});
