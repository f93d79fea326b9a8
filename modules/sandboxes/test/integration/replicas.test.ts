import { createGrantedAccess } from '@svc/access';
import { createInternalNetwork, type InternalNetwork } from '@svc/forward/testing';
import { createListener } from '@svc/http';
import { migrations } from '@svc/migrations';
import { EventReader, describeDialects, fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

/** The clock stands still, so that no poll can deliver what an event must. */
describeDialects<unknown>('two replicas with a sandbox at the second', migrations, (database) => {
  const drivers: FakeDriver[] = [];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let id: string;
  let clock: FakeClock;
  let network: InternalNetwork;

  beforeEach(async () => {
    clock = fakeClock();
    network = await createInternalNetwork();
    const start = async (node: string, access?: TestPlatform['access']): Promise<TestPlatform> => {
      const driver = new FakeDriver();
      drivers.push(driver);
      return startPlatform({
        driver,
        node,
        network,
        nodes: { isLive: async () => true, live: async () => ['node-1', 'node-2'], silent: async () => [] },
        database: database(),
        ...(access === undefined ? {} : { access }),
        clock,
      });
    };
    asked = await start('node-1');
    holder = await start('node-2', asked.access);
    await waitFor(() => database().events.isListening);
    id = (await atHolder('POST', '', { image: 'busybox', name: 'one' })).body['id'];
  });
  afterEach(async () => {
    await atHolder('DELETE', `/${id}`);
    await holder.close();
    await asked.dispose();
    await holder.dispose();
    for (const driver of drivers.splice(0)) await driver.dispose();
  });

  const atHolder = (method: string, path: string, body?: unknown): Promise<Answer> =>
    holder.call(method, `/api/containers${path}`, { caller: asked.owner, ...(body === undefined ? {} : { body }) });

  const atOther = (method: string, path: string, body?: unknown): Promise<Answer> =>
    asked.call(method, `/api/containers/${id}${path}`, body === undefined ? {} : { body });

  it('change it at either one, and record that once', async () => {
    expect((await atOther('POST', '/stop')).status).toBeLessThan(300);
    expect((await atOther('GET', '')).body).toMatchObject({ status: 'stopped' });
    expect((await atOther('POST', '/start')).status).toBeLessThan(300);
    const actions = ({ audit }: TestPlatform) => audit.entries.map(({ action }) => action);
    expect(actions(asked)).toEqual([]);
    expect(actions(holder).filter((action) => action === 'sandbox:update')).toHaveLength(2);
    expect(holder.audit.entries.at(-1)).toMatchObject({ remoteAddress: '127.0.0.1' });
  });

  it('open its terminals at either one, by token and by ticket', async () => {
    const byToken = await TerminalClient.open(asked.url, id, { headers: asked.owner.headers });
    byToken.socket.terminate();
    const { body } = await atOther('POST', '/terminal/tickets');
    const query = `?ticket=${String(body['ticket'])}`;
    (await TerminalClient.open(asked.url, id, { query })).socket.terminate();
    await expect(TerminalClient.open(asked.url, id, { query })).rejects.toMatchObject({ status: 401 });
  });

  it('end a terminal at either one when the right to it is taken', async () => {
    const team = asked.access.team(asked.owner.workspaceUuid);
    const member = asked.access.user('member');
    asked.access.join(team, member, 'member');
    const query = `?workspace_uuid=${asked.owner.workspaceUuid}&team_uuid=${team}`;
    const terminal = await TerminalClient.open(asked.url, id, { query, headers: member.headers });
    asked.access.leave(team, member);
    await clock.advance(1_000);
    expect(await terminal.closed).toEqual({ code: 4003, reason: 'the right to this terminal was taken' });
  });

  it('refuse a terminal without a credential, whatever another replica states', async () => {
    const { principal, workspaceUuid } = asked.owner;
    const grant = await asked.access.authorize({ principal, action: 'sandbox:exec', workspaceUuid });
    const granted = createGrantedAccess(principal, clock.now(), 'sandbox:exec', grant);
    const client = { remoteAddress: '127.0.0.1', isSecure: false };
    const forwarded = { owned: { kind: 'sandbox', id, workspaceUuid }, granted, requestId: 'forged', client };
    const forger = await network.join('node-3');
    const none = { handler: () => undefined, onUpgrade: () => undefined };
    await forger.open(none, { sandbox: async () => 'node-2' });
    const listener = createListener({
      ...none,
      onUpgrade: (request, socket, head) => void forger.forwarder.forwardUpgrade({ request, socket, head }, forwarded),
    });
    const url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
    await expect(TerminalClient.open(url, id)).rejects.toMatchObject({ status: 401 });
    (await TerminalClient.open(url, id, { headers: asked.owner.headers })).socket.terminate();
    await listener.close(0);
    await forger.close();
  });

  it('refuse callers at the first one already', async () => {
    const stranger = asked.access.user('stranger');
    const answer = await asked.call('POST', `/api/containers/${id}/stop`, { caller: stranger });
    expect(answer.status).toBe(404);
    expect((await asked.call('POST', `/api/containers/${id}/stop`, { caller: null })).status).toBe(401);
    expect((await atHolder('GET', `/${id}`)).body).toMatchObject({ status: 'running' });
  });

  it('change a volume at either one, where its copies are, too', async () => {
    const make = (name: string) => holder.call('POST', '/api/volumes', { caller: asked.owner, body: { name } });
    expect((await make('data')).body).toMatchObject({ node: 'node-2' });
    expect(await asked.call('PATCH', '/api/volumes/data', { body: { size_mb: 2048 } })).toMatchObject({
      status: 200,
      body: { size_mb: 2048 },
    });
    const taken = await asked.call('POST', '/api/volumes/data/snapshots');
    expect(taken.status).toBe(201);
    const [, { volumeSizes }] = drivers as [FakeDriver, FakeDriver];
    expect([...volumeSizes.values()]).toEqual([2048, 2048]);
    const source = { name: 'copy', snapshot_id: taken.body['id'] };
    expect((await asked.call('POST', '/api/volumes', { body: source })).body).toMatchObject({ node: 'node-2' });
    expect((await asked.call('DELETE', '/api/volumes/copy')).status).toBe(200);
    expect((await asked.call('DELETE', '/api/volumes/data')).status).toBe(200);
    expect((await asked.call('DELETE', `/api/volume-snapshots/${taken.body['id']}`)).status).toBe(200);
    expect(volumeSizes.size).toBe(3); // until its own node sweeps
    await clock.advance(5_000);
    await waitFor(() => volumeSizes.size === 0, { description: 'the sweep of the node' });
  });

  it('answer wait_for when the sandbox reaches the state', async () => {
    const waiting = asked.call('GET', `/api/containers/${id}?wait_for=stopped&timeout=60`);
    await atHolder('POST', `/${id}/stop`);
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'stopped' } });
  });

  it('answer wait_for when the sandbox is deleted', async () => {
    const waiting = asked.call('GET', `/api/containers/${id}?wait_for=stopped&timeout=60`);
    await atHolder('DELETE', `/${id}`);
    expect((await waiting).status).toBe(404);
  });

  it('stream the events of the sandbox', async () => {
    const reader = await EventReader.open(`${asked.url}/api/containers/${id}/events`, asked.owner.headers);
    await atHolder('POST', `/${id}/stop`);
    await waitFor(() => reader.events.length === 1, { description: 'the event' });
    await atHolder('DELETE', `/${id}`);
    await waitFor(() => reader.ended, { description: 'the end of the stream' });
    expect(reader.events.map(({ event }) => event)).toEqual(['stopped', 'deleted']);
  });
});
