import { once } from 'node:events';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent, type PlayedAgent } from '../../support/played-agent.ts';
import { startRig, type Rig } from '../../support/rig.ts';

describe('agent messages', () => {
  let rig: Rig;
  let cluster: { id: string; token: string };
  let agent: PlayedAgent;
  beforeEach(async () => {
    rig = await startRig();
    cluster = await rig.addCluster();
    agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
  });
  afterEach(() => rig.close());

  const stillWorks = async (): Promise<void> => {
    const seen = (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['heartbeat'];
    const cpu = (seen as { cpu_usage: number } | null)?.cpu_usage === 0.75 ? 0.5 : 0.75;
    agent.heartbeat(cpu);
    await waitFor(async () => {
      const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}`);
      return (body['heartbeat'] as { cpu_usage: number } | null)?.cpu_usage === cpu;
    });
  };

  it('answers an unknown type with one error, however often it is sent, and continues', async () => {
    for (let count = 0; count < 20; count += 1) agent.say('from_the_future', { count });
    await stillWorks();
    expect(agent.of('error')).toHaveLength(1);
    expect(agent.of('error')[0]).toMatchObject({
      payload: { code: 'UNKNOWN_MESSAGE_TYPE', details: { field: 'type' }, message_id: 'msg-1' },
    });
  });

  it('answers an invalid envelope with one error and continues', async () => {
    const frames = ['', '{', '[]', 'null', '{"type":"heartbeat"}', '['.repeat(5000), '{"type":1,"id":2}'];
    for (const frame of frames) agent.socket.send(frame);
    agent.socket.send(Buffer.from([0, 1, 2]));
    agent.say('heartbeat', { status: 'healthy', metrics: { cpu_usage: 'much' } });
    await stillWorks();
    expect(agent.of('error')).toHaveLength(1);
    expect(agent.of('error')[0]).toMatchObject({ payload: { code: 'INVALID_REQUEST' } });
  });

  it('closes with 1009 on a frame above 1 MiB', async () => {
    agent.socket.send(JSON.stringify({ type: 'event', padding: 'x'.repeat(1024 * 1024) }));
    expect(await agent.closed()).toBe(1009);
    const next = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    await next.close();
  });

  it('throttles a flood, reports it once, and still receives heartbeats', async () => {
    agent.hello('instance-1');
    await agent.next('welcome');
    for (let count = 1; count <= 300; count += 1) {
      agent.say('event', { event_type: 'pod_created', namespace: 'default', resource: `pod/p-${count}`, details: {} });
    }
    await agent.next('error');
    await stillWorks(); // overtakes the waiting events
    expect(agent.of('error').map((error) => error.payload['code'])).toEqual(['RATE_LIMITED']);
    const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}/events?page_size=200`);
    const stored = (body['events'] as unknown[]).length;
    expect(stored).toBeGreaterThan(60);
    expect(stored).toBeLessThan(200);
  });

  it('keeps a cluster from changing commands of another', async () => {
    const other = await rig.addCluster('other');
    const victim = await connectAgent({ port: rig.port, token: other.token, clusterId: other.id });
    victim.hello('victim-1');
    await victim.next('welcome');
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
    const { body } = await rig.call('POST', '/v1/clusters/other/deploy', {
      body: { project_id: 'p', namespace: 'default', manifest },
    });
    const { id } = await victim.next('deploy');
    agent.hello('hostile-1', [id]);
    await agent.next('welcome');
    agent.say('command_ack', { command_id: id, command: 'deploy', state: 'accepted' });
    agent.say('command_progress', { command_id: id, seq: 1, phase: 'x', message: 'x' });
    agent.say('command_output', { command_id: id, seq: 1, stream: 'stdout', encoding: 'utf8', data: 'x' });
    agent.result(id, 'failed');
    await agent.next('result_ack'); // dropped, without revealing that the id exists
    const seen = await rig.call('GET', `/v1/clusters/other/deployments/${String(body['id'])}`);
    expect(seen.body).toMatchObject({ status: 'dispatched', result: null });
    const events = await rig.stores.commands.notes(id, 0, 100);
    expect(events.map((note) => note.type)).toEqual(['state', 'state']);
  });

  it('bounds the reports of a hostile agent, and accepts those of a clock that is hours off', async () => {
    agent.hello('hostile-2');
    await agent.next('welcome');
    const metrics = { cpu_usage: 0.5, memory_usage: 0.5, active_pods: 1 };
    for (const odd of [{ cpu_usage: -1 }, { cpu_usage: 1e308 }, { memory_usage: null }, { active_pods: 1e12 }]) {
      agent.say('heartbeat', { status: 'healthy', metrics: { ...metrics, ...odd } });
    }
    await agent.next('error');
    const event = { event_type: 'pod_created', namespace: 'default', resource: 'pod/a' };
    agent.say('event', { ...event, seq: 1, details: { big: 'x'.repeat(500_000) } });
    agent.say('event', { ...event, seq: 2, details: {}, occurred_at: '2026-99-99T00:00:00Z' });
    agent.say('event', { ...event, seq: 3, details: {}, occurred_at: '1999-01-01T00:00:00Z' });
    await waitFor(() => agent.of('event_ack').some(({ payload }) => payload['seq'] === 3));
    const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}/events`);
    const [late, timeless, big] = body['events'] as { occurred_at: string; details: Record<string, unknown> }[];
    expect(late?.occurred_at).toBe('1999-01-01T00:00:00.000Z');
    expect(Math.abs(Date.parse(timeless?.occurred_at ?? '') - Date.now())).toBeLessThan(86_400_000);
    expect(JSON.stringify(big?.details).length).toBeLessThan(2000);
    const shown = await rig.call('GET', `/v1/clusters/${cluster.id}`);
    expect(shown.body['heartbeat']).toBeNull(); // none of them was accepted
    await stillWorks();
  });

  it('acknowledges the result of an unknown command, so that the agent can drop it', async () => {
    agent.result('cmd-unknown00000');
    expect(await agent.next('result_ack')).toMatchObject({ payload: { command_ids: ['cmd-unknown00000'] } });
  });

  it('acknowledges output, whether or not it is read', async () => {
    agent.hello('instance-1');
    expect(await agent.next('welcome')).toMatchObject({
      payload: { acknowledges_output: true, cluster_id: cluster.id },
    });
    const output = { command_id: 'cmd-unknown00000', stream: 'log', encoding: 'utf8', data: 'x' };
    for (const seq of [1, 2, 3]) agent.say('command_output', { ...output, seq });
    await waitFor(() => agent.of('output_ack').some(({ payload }) => JSON.stringify(payload).includes('"seq":3')));
    expect(agent.of('output_ack').at(-1)?.payload).toEqual({ outputs: [{ command_id: 'cmd-unknown00000', seq: 3 }] });
  });

  it('stores a repeated event once, then acknowledges it', async () => {
    agent.hello('instance-1');
    await agent.next('welcome');
    const event = { event_type: 'pod_created', namespace: 'default', resource: 'pod/a', details: { image: 'nginx' } };
    agent.say('event', { ...event, seq: 1, occurred_at: '2026-11-21T09:30:00.000Z' }, 'event-1');
    agent.say('event', { ...event, seq: 1 }, 'event-1');
    agent.say('event', { ...event, seq: 2 }, 'event-2');
    await agent.next('event_ack', 3);
    expect(agent.of('event_ack').map((ack) => ack.payload)).toEqual([
      { instance_id: 'instance-1', seq: 1 },
      { instance_id: 'instance-1', seq: 1 },
      { instance_id: 'instance-1', seq: 2 },
    ]);
    const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}/events`);
    expect(body['events']).toMatchObject([{ sequence: expect.any(Number) as number }, { details: { image: 'nginx' } }]);
    agent.cut();
    const again = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    again.hello('instance-1');
    expect(await again.next('welcome')).toMatchObject({ payload: { resumed: true, last_received_seq: 2 } });
    again.cut();
    const restarted = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    restarted.hello('instance-2');
    expect(await restarted.next('welcome')).toMatchObject({ payload: { resumed: false, last_received_seq: 0 } });
  });
});

describe('two connections of one cluster', () => {
  let rig: Rig;
  let cluster: { id: string; token: string };
  beforeEach(async () => {
    rig = await startRig();
    cluster = await rig.addCluster();
  });
  afterEach(() => rig.close());

  it('replaces the older connection, whose late end changes nothing', async () => {
    const older = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    older.hello('instance-1');
    await older.next('welcome');
    const newer = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    expect(await older.closed()).toBe(4409);
    newer.hello('instance-2');
    await newer.next('welcome');
    const { stores } = rig;
    await stores.connectionStore.close(cluster.id, 1, new Date().toISOString()); // the late disconnect
    await stores.connectionStore.introduce(cluster.id, 1, {
      instanceId: 'instance-1',
      outboxId: 'outbox-1',
      protocol: 'svc',
      agentVersion: '0',
      kubernetesVersion: null,
      capabilities: [],
    });
    expect(await stores.clusters.find(rig.owner.workspaceUuid, cluster.id)).toMatchObject({
      connected: true,
      connectionEpoch: 2,
      instanceId: 'instance-2',
      agentVersion: '9.9.9',
    });
  });

  it('keeps exactly one of many concurrent connections, and records it', async () => {
    const agents = await Promise.all(
      Array.from({ length: 8 }, () => connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id })),
    );
    await waitFor(() => agents.filter((agent) => agent.closeCode === 4409).length === 7);
    const kept = agents.find((agent) => agent.closeCode === undefined);
    kept?.hello('kept');
    await kept?.next('welcome');
    const row = await rig.stores.clusters.find(rig.owner.workspaceUuid, cluster.id);
    expect(row).toMatchObject({ connected: true, connectionEpoch: 8, instanceId: 'kept' });
  });

  it('releases everything when an agent disconnects during the handshake', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.cut();
    await waitFor(async () => (await rig.call('GET', `/v1/clusters/${cluster.id}`)).body['connected'] === false);
    const next = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    const closed = once(next.socket, 'close');
    next.socket.close();
    await closed;
  });
});
