import { once } from 'node:events';
import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import { dialMux, MuxSession } from '@svc/mux';
import { CLOSE_CODES, TUNNEL_CLOSE_CODES, TUNNEL_PATH } from '@svc/protocol';
import { EventReader, describeDialects, fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ClusterTables } from '../../src/store/tables.ts';
import { connectAgent, type PlayedAgent } from '../support/played-agent.ts';
import { PlayedKubernetes } from '../support/played-kubernetes.ts';
import { closeWithClock, startRig, type Rig } from '../support/rig.ts';

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const DEPLOY = { project_id: 'shop', namespace: 'default', manifest: MANIFEST };

/** The clock stands still, so that no poll can deliver what an event must. */
describeDialects<ClusterTables>('two replicas with an agent at the second', migrations, (database) => {
  let clock: FakeClock;
  let asked: Rig;
  let holder: Rig;
  let agent: PlayedAgent;
  let cluster: Awaited<ReturnType<Rig['addCluster']>>;
  const readers: EventReader[] = [];

  beforeEach(async () => {
    clock = fakeClock(new Date().toISOString());
    const shared = { clock, database: database(), network: await createInternalNetwork() };
    asked = await startRig({ ...shared, replicaId: 'replica-1' });
    holder = await startRig({ ...shared, replicaId: 'replica-2', access: asked.access });
    await waitFor(() => database().events.isListening);
    cluster = await asked.addCluster();
    agent = await connectAgent({ port: holder.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    agent.cut();
    await closeWithClock(asked, clock);
    await closeWithClock(holder, clock);
  });

  const call: Rig['call'] = (method, path, options) => {
    return asked.call(method, `/v1/clusters/${cluster.id}${path}`, { caller: asked.owner, ...options });
  };
  const open = async (path: string): Promise<EventReader> => {
    const reader = await EventReader.open(`${asked.url}/v1/clusters/${cluster.id}${path}`, asked.owner.headers);
    readers.push(reader);
    return reader;
  };

  it('send a command to the agent, and its result to the caller who waits', async () => {
    const answer = call('POST', '/deploy?wait=30', { body: DEPLOY });
    const { id } = await agent.next('deploy');
    agent.say('command_ack', { command_id: id, command: 'deploy', state: 'accepted' });
    agent.result(id);
    expect(await answer).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });

  it('send a cancel to the agent', async () => {
    const { body } = await call('POST', '/deploy', { body: DEPLOY });
    const { id } = await agent.next('deploy');
    expect(id).toBe(body['command_id']);
    expect((await call('DELETE', `/commands/${id}`)).status).toBe(202);
    expect(await agent.next('cancel')).toMatchObject({ payload: { command_id: id } });
  });

  it('stream the progress of a command', async () => {
    const { body } = await call('POST', '/deploy', { body: DEPLOY });
    const { id } = await agent.next('deploy');
    const reader = await open(`/commands/${String(body['command_id'])}/events`);
    agent.say('command_ack', { command_id: id, command: 'deploy', state: 'accepted' });
    agent.say('command_progress', { command_id: id, seq: 1, phase: 'apply', message: 'step 1' });
    agent.result(id);
    await waitFor(() => reader.ended, { description: 'the result' });
    expect(reader.events.map(({ event }) => event)).toEqual(['state', 'state', 'state', 'progress', 'result']);
  });

  it('stream the events of a cluster', async () => {
    const reader = await open('/events');
    agent.say('event', { event_type: 'pod_crashed', namespace: 'default', resource: 'web-1', details: {} });
    await waitFor(() => reader.events.length === 1, { description: 'the event' });
    expect(reader.events[0]).toMatchObject({ event: 'pod_crashed' });
  });

  it('relay logs', async () => {
    const path = `/v1/clusters/${cluster.name}/logs?pod=web-1&namespace=default`;
    const calling = fetch(`${asked.url}${path}`, { headers: asked.owner.headers });
    const { id } = await agent.next('logs');
    agent.say('command_output', { command_id: id, seq: 1, stream: 'log', encoding: 'utf8', data: 'one\n' });
    agent.result(id, 'succeeded', { command: 'logs' });
    expect(await (await calling).text()).toBe('one\n');
  });

  it('pass standard input to a process', async () => {
    const body = { namespace: 'default', pod: 'web-1', command: ['sh'], stdin: true };
    expect((await call('POST', '/exec', { body })).status).toBe(202);
    const { id } = await agent.next('exec');
    agent.say('command_ack', { command_id: id, command: 'exec', state: 'accepted' });
    await waitFor(async () => (await call('GET', `/commands/${id}`)).body['status'] === 'running');
    expect((await call('POST', `/commands/${id}/stdin`, { body: { data: 'ls\n' } })).status).toBe(204);
    expect(await agent.next('stdin')).toMatchObject({ payload: { command_id: id, data: 'ls\n' } });
  });

  it('use the tunnel for lists, shells and requests', async () => {
    const POD = { metadata: { name: 'web-1' }, spec: { containers: [{ name: 'main' }] } };
    const kubernetes = await PlayedKubernetes.connect(holder, cluster, {
      answer: ({ pathname }) => ({ body: pathname.endsWith('/web-1') ? POD : { items: [POD], metadata: {} } }),
      exec: (socket) => socket.on('message', () => undefined),
      owner: asked.owner,
    });
    expect((await call('GET', '/pods')).body).toMatchObject({ pods: [{ name: 'web-1' }] });
    expect((await call('GET', '/tunnel/kubernetes/api/v1/pods')).body).toMatchObject({ items: [POD] });
    const query = 'namespace=default&pod=web-1';
    const shell = new WebSocket(`${asked.url.replace('http', 'ws')}/v1/clusters/${cluster.id}/shell?${query}`, {
      headers: asked.owner.headers,
    });
    const [ready] = (await once(shell, 'message')) as [Buffer];
    expect(JSON.parse(ready.toString())).toMatchObject({ type: 'ready', container: 'main' });
    shell.terminate();
    expect(
      [asked.audit, holder.audit].map(({ entries }) => entries.filter(({ action }) => action === 'command:exec')),
    ).toMatchObject([[], [{ remoteAddress: '127.0.0.1' }]]);
    await kubernetes.close();
  });

  it('refuse by name what needs an agent that is connected to neither', async () => {
    agent.cut();
    await waitFor(async () => (await call('GET', '/pods')).status === 503);
    expect((await call('GET', '/pods')).body).toMatchObject({ error: { code: 'AGENT_OFFLINE' } });
  });

  it('cut followed logs whose agent moves from one to the other, so that their reader resumes there', async () => {
    agent.cut();
    agent = await connectAgent({ port: asked.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const path = `/v1/clusters/${cluster.id}/logs?pod=web-1&namespace=default&follow=true`;
    const calling = fetch(`${asked.url}${path}`, { headers: asked.owner.headers });
    const { id } = await agent.next('logs');
    const line = { command_id: id, seq: 1, stream: 'log', encoding: 'utf8', data: 'one\n', position: 'behind one' };
    agent.say('command_output', line);
    const reader = (await calling).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one\n');
    agent.cut();
    agent = await connectAgent({ port: holder.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1', [id]);
    await expect(reader?.read()).rejects.toThrow();
  });

  it('end the connections of a rotated token', async () => {
    const tunnel = await dialTunnel(holder, cluster);
    expect((await call('POST', '/token')).status).toBe(200);
    expect(await agent.closed()).toBe(CLOSE_CODES.unauthorized);
    expect(await tunnel.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.unauthorized });
  });

  it('end the connections of a deleted cluster', async () => {
    const tunnel = await dialTunnel(holder, cluster);
    expect((await call('DELETE', '')).status).toBe(204);
    expect(await agent.closed()).toBe(CLOSE_CODES.forbidden);
    expect(await tunnel.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.forbidden });
  });

  it('end the connections of a token whose overlap ended, whichever replica notices', async () => {
    expect((await call('POST', '/token', { body: { overlap_seconds: 60 } })).status).toBe(200);
    await clock.advance(61_000);
    await waitFor(async () => {
      await clock.advance(15_000);
      return agent.closeCode;
    });
    expect(agent.closeCode).toBe(CLOSE_CODES.unauthorized);
  });
});

async function dialTunnel(rig: Rig, cluster: { id: string; token: string }): Promise<MuxSession> {
  const { transport } = await dialMux({
    url: new URL(`${rig.url}${TUNNEL_PATH}`),
    headers: { authorization: `Bearer ${cluster.token}`, 'x-cluster-id': cluster.id },
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  });
  return new MuxSession(transport, { role: 'client' });
}
