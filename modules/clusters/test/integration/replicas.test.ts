import { migrations } from '@svc/migrations';
import { dialMux, MuxSession } from '@svc/mux';
import { CLOSE_CODES, TUNNEL_CLOSE_CODES, TUNNEL_PATH } from '@svc/protocol';
import { EventReader, describeDialects, fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClusterTables } from '../../src/store/tables.ts';
import { connectAgent, type PlayedAgent } from '../support/played-agent.ts';
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
    const shared = { clock, database: database() };
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
