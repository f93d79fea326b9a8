import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { PROTOCOL_TIMES } from '@svc/protocol';
import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent, refusedConnect, type PlayedAgent } from '../../support/played-agent.ts';
import { closeWithClock, startRig, type Rig } from '../../support/rig.ts';

describe('the agent handshake', () => {
  let rig: Rig;
  let cluster: { id: string; name: string; token: string };
  beforeEach(async () => {
    rig = await startRig({ config: { connects_per_minute: 3 } });
    cluster = await rig.addCluster('production');
  });
  afterEach(() => rig.close());

  it('returns 401 without a token', async () => {
    const refusal = await refusedConnect({ port: rig.port, clusterId: cluster.id });
    expect(refusal.status).toBe(401);
    expect(refusal.body).toEqual({
      error: {
        code: 'UNAUTHORIZED',
        message: expect.any(String) as string,
        details: { field: 'request', reason: expect.any(String) as string },
      },
    });
    expect(refusal.headers['www-authenticate']).toBe('Bearer');
  });

  it("returns 401 for an unknown token and for a user's token", async () => {
    for (const token of [`svc_agt_${'A'.repeat(43)}`, rig.owner.token, 'svc_agt_']) {
      const refusal = await refusedConnect({ port: rig.port, token, clusterId: cluster.id });
      expect(refusal.status).toBe(401);
    }
  });

  it('returns 403 for the token of another cluster, and 400 without X-Cluster-ID', async () => {
    const other = await rig.addCluster('staging');
    const foreign = await refusedConnect({ port: rig.port, token: other.token, clusterId: cluster.id });
    expect(foreign.status).toBe(403);
    expect(foreign.body).toMatchObject({ error: { code: 'FORBIDDEN', details: { field: 'X-Cluster-ID' } } });
    const missing = await refusedConnect({ port: rig.port, token: cluster.token });
    expect(missing.status).toBe(400);
    expect(missing.body).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field: 'X-Cluster-ID' } } });
  });

  it("accepts the cluster's name from an agent without a configured id", async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: 'production' });
    await agent.close();
  });

  it("returns 429 with the contract's headers when a token connects too often", async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
      await agent.close();
    }
    const refusal = await refusedConnect({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect(refusal.status).toBe(429);
    expect(refusal.body).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(refusal.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '0' });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    const other = await rig.addCluster('staging');
    await (await connectAgent({ port: rig.port, token: other.token, clusterId: other.id })).close();
  });

  it.each([
    ['Sec-WebSocket-Key', 'short', '13'],
    ['Sec-WebSocket-Version', 'dGhlIHNhbXBsZSBub25jZQ==', '99'],
  ])('refuses a handshake with a wrong %s, and keeps the connected agent', async (field, key, version) => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    const wrong = request({
      port: rig.port,
      path: '/v1/agent/connect',
      headers: {
        authorization: `Bearer ${cluster.token}`,
        'x-cluster-id': cluster.id,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': key,
        'sec-websocket-version': version,
      },
    });
    wrong.end();
    const [response] = (await once(wrong, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(await json(response)).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field } } });
    expect((await rig.call('GET', '/v1/clusters/production')).body['connected']).toBe(true);
    await agent.close();
  });

  it('closes the connection of a rotated token and admits the new one', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    const { status, body } = await rig.call('POST', '/v1/clusters/production/token', { body: {} });
    expect(status).toBe(200);
    expect(await agent.closed()).toBe(4401);
    const refusal = await refusedConnect({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect(refusal.status).toBe(401);
    const token = String(body['token']);
    await (await connectAgent({ port: rig.port, token, clusterId: cluster.id })).close();
  });

  it('closes the connection of a removed cluster', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect((await rig.call('DELETE', '/v1/clusters/production')).status).toBe(204);
    expect(await agent.closed()).toBe(4403);
    const refusal = await refusedConnect({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect(refusal.status).toBe(401);
  });

  it('disconnects agents at shutdown and clears the row', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    await rig.module.close();
    expect(agent.closeCode).toBe(4503);
    expect(agent.of('drain')).toHaveLength(1);
    expect((await rig.stores.clusters.find(rig.owner.workspaceUuid, cluster.id))?.connected).toBe(false);
    const refusal = await refusedConnect({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect(refusal.status).toBe(503);
  });
});

describe('timeouts of the agent channel', () => {
  let rig: Rig;
  let clock: FakeClock;
  let cluster: { id: string; token: string };
  beforeEach(async () => {
    clock = fakeClock();
    rig = await startRig({ clock });
    cluster = await rig.addCluster();
  });
  afterEach(() => closeWithClock(rig, clock));

  it('closes a link without a pong within 10 s, and keeps a responsive one', async () => {
    const other = await rig.addCluster('other');
    const silent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id, autoPong: false });
    const alive = await connectAgent({ port: rig.port, token: other.token, clusterId: other.id });
    silent.hello('instance-1');
    alive.hello('instance-2');
    await silent.next('welcome');
    await alive.next('welcome');
    await clock.advance(4000);
    await waitFor(() => silent.pings === 2 && alive.pings === 2); // the first one confirms the new connection
    alive.heartbeat(); // a round trip after the ping, so its pong has arrived
    await waitFor(async () => (await rig.call('GET', `/v1/clusters/${other.id}`)).body['heartbeat'] !== null);
    await clock.advance(6000);
    expect(await silent.closed()).toBe(4408);
    expect(alive.closeCode).toBeUndefined();
  });

  it('keeps the link of a live agent when a handshake arrives whose sender is gone', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const gone = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id, autoPong: false });
    await waitFor(() => gone.pings === 1);
    agent.heartbeat();
    await clock.advance(10_000);
    expect(await gone.closed()).toBe(1006);
    expect(agent.closeCode).toBeUndefined();
    const body = { pod: 'web-1', namespace: 'default', command: ['date'] };
    await rig.call('POST', `/v1/clusters/${cluster.id}/exec`, { body });
    await agent.next('exec');
  });

  it('keeps a link on which messages arrive but pings do not', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id, autoPong: false });
    agent.hello('instance-1');
    await agent.next('welcome');
    const { pingIntervalMs, pongTimeoutMs } = PROTOCOL_TIMES;
    await clock.advance(pingIntervalMs);
    for (let round = 1; round <= 3; round += 1) {
      await clock.advance(pongTimeoutMs / 2);
      await agent.next('ping', round);
      agent.say('pong', {});
      agent.say('ping', {});
      await agent.next('pong', round); // so the platform has read both
      await clock.advance(pongTimeoutMs / 2);
    }
    expect(agent.closeCode).toBeUndefined();
    expect(agent.pings).toBeGreaterThan(0);
    await agent.close();
  });

  it('reports a cluster as offline after exactly three missed heartbeats', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    await agent.close();
    await waitFor(async () => (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['connected'] === false);
    await clock.advance(90_000);
    expect((await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['status']).toBe('online');
    await clock.advance(1);
    expect((await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['status']).toBe('offline');
  });

  it('waits for the hello of an agent that announced it', async () => {
    const slow = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id, announces: true });
    const body = { pod: 'web-1', namespace: 'default', command: ['date'] };
    await rig.call('POST', `/v1/clusters/${cluster.id}/exec`, { body });
    await clock.advance(10_000);
    slow.hello('instance-1');
    await slow.next('welcome');
    await slow.next('exec');
    const { protocol } = (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body;
    expect({ protocol, types: slow.received.map(({ type }) => type) }).toEqual({
      protocol: 'svc',
      types: ['welcome', 'exec'],
    });
  });

  it('treats an agent without a hello as a contract agent, and sends commands after five seconds', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
    const { status, body } = await rig.call('POST', `/v1/clusters/${cluster.id}/deploy`, {
      body: { project_id: 'p', namespace: 'default', manifest },
    });
    expect(status).toBe(202);
    await clock.advance(5000);
    const deploy = await agent.next('deploy');
    expect(deploy.id).toBe(body['command_id']);
    expect(agent.received.map((message) => message.type)).toEqual(['deploy']);
    expect((await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['protocol']).toBe('contract');
  });

  it('accepts a rotated token until its overlap ends', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    await rig.call('POST', `/v1/clusters/${cluster.id}/token`, { body: { overlap_seconds: 60 } });
    agent.hello('instance-1');
    await agent.next('welcome');
    await clock.advance(50_000);
    agent.heartbeat();
    await waitFor(async () => (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['heartbeat'] !== null);
    expect(agent.closeCode).toBeUndefined();
    await waitFor(async () => {
      await clock.advance(5000);
      return agent.closeCode;
    });
    expect(agent.closeCode).toBe(4401);
  });

  it('closes a connection whose agent has a newer one at another replica', async () => {
    const other = await rig.addCluster('other');
    const older = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    const bystander = await connectAgent({ port: rig.port, token: other.token, clusterId: other.id });
    const at = clock.now().toISOString();
    await rig.stores.connectionStore.open(cluster.id, 'replica-2', at, at);
    await clock.advance(10_000);
    expect(await older.closed()).toBe(4409);
    expect(bystander.closeCode).toBeUndefined();
    const row = await rig.stores.clusters.find(rig.owner.workspaceUuid, cluster.id);
    expect(row).toMatchObject({ connected: true, connectionEpoch: 2 });
  });

  it('asks agents to reconnect elsewhere, and closes the remaining ones later', async () => {
    await rig.close();
    rig = await startRig({ clock, config: { drain_seconds: 4 } });
    const agents: PlayedAgent[] = [];
    for (const name of ['one', 'two']) {
      const { id, token } = await rig.addCluster(name);
      const agent = await connectAgent({ port: rig.port, token, clusterId: id });
      agent.hello(name);
      await agent.next('welcome');
      agents.push(agent);
    }
    const [leaves, stays] = agents;
    const closing = rig.module.close();
    for (const agent of agents) expect((await agent.next('drain')).payload['reconnect_within_ms']).toBe(1000);
    await leaves?.close(); // its new connection is open
    await clock.advance(1999);
    expect(stays?.closeCode).toBeUndefined();
    await clock.advance(1);
    expect(await stays?.closed()).toBe(4503);
    await closing;
  });

  it('shuts down at once when all agents have left', async () => {
    await rig.close();
    rig = await startRig({ clock, config: { drain_seconds: 4 } });
    const { id, token } = await rig.addCluster('one');
    const agent = await connectAgent({ port: rig.port, token, clusterId: id });
    agent.hello('one');
    await agent.next('welcome');
    const closing = rig.module.close();
    await agent.next('drain');
    await agent.close();
    await closing; // even though the clock stands still
  });

  it('sends every contract field to a contract agent', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.heartbeat();
    const target = { pod: 'web-1', namespace: 'default' };
    await rig.call('POST', `/v1/clusters/${cluster.id}/exec`, { body: { ...target, command: ['date'] } });
    expect((await agent.next('exec')).payload).toMatchObject({ ...target, container: '', command: ['date'] });
    const reading = new AbortController();
    const path = `/v1/clusters/${cluster.id}/logs?pod=web-1&namespace=default`;
    const read = rig.call('GET', path, { signal: reading.signal }).catch(() => undefined);
    const { payload } = await agent.next('logs');
    expect(payload).toMatchObject({ ...target, container: '', tail_lines: 100, follow: false });
    reading.abort();
    await read;
  });

  it('leaves no timer running when everything is closed', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const other = await rig.addCluster('other');
    const silent = await connectAgent({ port: rig.port, token: other.token, clusterId: other.id });
    silent.cut();
    await closeWithClock(rig, clock);
    expect(agent.closeCode).toBe(4503);
    expect(clock.pendingTimers()).toBe(0);
    rig = await startRig(); // for the end of the test
    clock = fakeClock();
  });

  it('treats any first message except hello as that of a contract agent', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.heartbeat();
    const protocol = await waitFor(async () => (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['protocol']);
    expect(protocol).toBe('contract');
    agent.say('cluster_status', { nodes: 1, pods: 2, services: 3, health: 'healthy' });
    agent.say('event', { event_type: 'pod_created', namespace: 'd', resource: 'pod/a', details: { image: 'nginx' } });
    await waitFor(async () => {
      const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}/events`);
      return (body['events'] as unknown[]).length === 1;
    });
    expect(agent.received).toEqual([]); // nothing that it would not know
    await agent.close();
  });
});
