import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent, type PlayedAgent } from '../support/played-agent.ts';
import { closeWithClock, startRig, type Answer, type Rig } from '../support/rig.ts';

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: greeting\n';
const DEPLOY = { project_id: 'shop', namespace: 'default', manifest: MANIFEST };
const EXEC = { pod: 'web-1', namespace: 'default', command: ['date'] };

describe('command lifecycle', () => {
  let rig: Rig;
  let cluster: { id: string; token: string };
  beforeEach(async () => {
    rig = await startRig();
    cluster = await rig.addCluster();
  });
  afterEach(() => rig.close());

  const connect = async (instanceId: string, inFlight: readonly string[] = []): Promise<PlayedAgent> => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello(instanceId, inFlight);
    await agent.next('welcome');
    return agent;
  };
  const deploy = (extra: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    rig.call('POST', '/v1/clusters/production/deploy', { body: { ...DEPLOY, ...extra }, headers });
  const exec = (extra: object = {}): Promise<Answer> =>
    rig.call('POST', '/v1/clusters/production/exec', { body: { ...EXEC, ...extra } });
  const command = async (id: unknown): Promise<Record<string, unknown>> =>
    (await rig.call('GET', `/v1/clusters/production/commands/${String(id)}`)).body;
  const untilStatus = (id: unknown, status: string): Promise<Record<string, unknown>> =>
    waitFor(async () => ((await command(id))['status'] === status ? command(id) : null), {
      description: `status ${status}`,
    });

  it('refuses a deployment while the agent is offline, and queues it on request', async () => {
    const refused = await deploy();
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ error: { code: 'AGENT_OFFLINE', details: { cluster: 'production' } } });
    expect(refused.headers.get('retry-after')).toBe('5');
    const queued = await deploy({ queue_if_offline: true });
    expect(queued.status).toBe(202);
    expect(queued.body).toMatchObject({ status: 'queued' });
    const agent = await connect('instance-1');
    expect((await agent.next('deploy')).id).toBe(queued.body['command_id']);
  });

  it('supersedes a queued deployment of the same project', async () => {
    const first = await deploy({ queue_if_offline: true });
    const dryRun = await deploy({ queue_if_offline: true, dry_run: true });
    const other = await deploy({ queue_if_offline: true, project_id: 'blog' });
    const second = await deploy({ queue_if_offline: true });
    expect(await command(first.body['command_id'])).toMatchObject({ status: 'superseded' });
    for (const kept of [dryRun, other, second]) {
      expect(await command(kept.body['command_id'])).toMatchObject({ status: 'queued' });
    }
  });

  it('returns the first deployment for a repeated request, even while the agent is offline', async () => {
    const agent = await connect('instance-1');
    const headers = { 'idempotency-key': 'release-17' };
    const [first, second] = await Promise.all([deploy({}, headers), deploy({}, headers)]);
    expect(first.body['id']).toBe(second.body['id']);
    await agent.next('deploy');
    await agent.close();
    const third = await deploy({}, headers);
    expect(third.status).toBe(202);
    expect(third.body['id']).toBe(first.body['id']);
    expect(third.headers.get('idempotent-replayed')).toBe('true');
    const conflict = await deploy({ namespace: 'other' }, headers);
    expect(conflict.status).toBe(409);
    expect(conflict.body).toMatchObject({ error: { code: 'IDEMPOTENCY_CONFLICT' } });
    expect(agent.of('deploy')).toHaveLength(1);
  });

  it('resends a command to the same instance unless the instance reports that it has it', async () => {
    let agent = await connect('instance-1');
    const { body } = await deploy();
    const id = String(body['command_id']);
    await agent.next('deploy');
    agent.cut();
    agent = await connect('instance-1', [id]);
    agent.heartbeat();
    await waitFor(async () => (await rig.call('GET', '/v1/clusters/production')).body['heartbeat'] !== null);
    expect(agent.of('deploy')).toHaveLength(0);
    agent.cut();
    agent = await connect('instance-1');
    expect((await agent.next('deploy')).id).toBe(id);
    agent.say('command_ack', { command_id: id, command: 'deploy', state: 'duplicate' });
    agent.result(id);
    await untilStatus(id, 'succeeded');
  });

  it('never runs an exec twice: it is lost if the agent restarts, while a deploy is resent', async () => {
    let agent = await connect('instance-1');
    const deployed = await deploy();
    const executed = await exec();
    await agent.next('deploy');
    await agent.next('exec');
    agent.cut();
    agent = await connect('instance-2');
    expect((await agent.next('deploy')).id).toBe(deployed.body['command_id']);
    expect(await untilStatus(executed.body['id'], 'lost')).toMatchObject({ error: { code: 'LOST' } });
    expect(agent.of('exec')).toHaveLength(0);
  });

  it('resends an exec that never began to the next process with the same folder', async () => {
    const begin = async (instanceId: string, inFlight: readonly string[] = []): Promise<PlayedAgent> => {
      const played = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
      played.hello(instanceId, inFlight, ['exec'], 'folder-1');
      await played.next('welcome');
      return played;
    };
    let agent = await begin('instance-1');
    const [never, began] = [(await exec()).body['id'], (await exec()).body['id']];
    await waitFor(() => agent.of('exec').length === 2);
    agent.say('command_ack', { command_id: began, command: 'exec', state: 'accepted' });
    await untilStatus(began, 'running');
    agent.cut();
    agent = await begin('instance-2', [String(began)]);
    expect((await agent.next('exec')).id).toBe(never);
    agent.result(String(began), 'lost', { command: 'exec' });
    agent.result(String(never), 'succeeded', { command: 'exec' });
    await untilStatus(began, 'lost');
    await untilStatus(never, 'succeeded');
    expect(agent.of('exec')).toHaveLength(1);
  });

  it("keeps a command's first result and acknowledges later ones", async () => {
    const agent = await connect('instance-1');
    const { body } = await deploy();
    const { id } = await agent.next('deploy');
    agent.result(id, 'succeeded');
    await agent.next('result_ack');
    agent.result(id, 'failed');
    await agent.next('result_ack', 2);
    expect(await command(body['command_id'])).toMatchObject({ status: 'succeeded' });
  });

  it('cancels a queued command at once, and a running one through the agent', async () => {
    const waiting = await deploy({ queue_if_offline: true });
    const path = `/v1/clusters/production/deployments/${String(waiting.body['id'])}`;
    const cancelled = await rig.call('DELETE', path);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ status: 'cancelled' });
    const agent = await connect('instance-1');
    const running = await exec();
    const { id } = await agent.next('exec');
    agent.say('command_ack', { command_id: id, command: 'exec', state: 'accepted' });
    await untilStatus(id, 'running');
    const asked = await rig.call('DELETE', `/v1/clusters/production/commands/${id}`);
    expect(asked.status).toBe(202);
    expect(await agent.next('cancel')).toMatchObject({ payload: { command_id: id } });
    agent.result(id, 'cancelled', { command: 'exec' });
    await untilStatus(id, 'cancelled');
    const again = await rig.call('DELETE', `/v1/clusters/production/commands/${id}`);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ status: 'cancelled', id: running.body['id'] });
    expect(agent.of('deploy')).toHaveLength(0);
  });

  it('tells a reconnecting agent about a cancel that it missed', async () => {
    let agent = await connect('instance-1');
    const { body } = await exec();
    await agent.next('exec');
    await agent.close();
    await rig.call('DELETE', `/v1/clusters/production/commands/${String(body['id'])}`);
    agent = await connect('instance-1', [String(body['id'])]);
    expect(await agent.next('cancel')).toMatchObject({ payload: { command_id: body['id'] } });
  });

  it('keeps queued, sent and finished commands when the platform is killed', async () => {
    let agent = await connect('instance-1');
    const finished = await deploy();
    agent.result((await agent.next('deploy')).id);
    await agent.next('result_ack');
    const sent = await deploy({ project_id: 'blog' });
    await agent.next('deploy', 2);
    await agent.close();
    const queued = await deploy({ project_id: 'wiki', queue_if_offline: true });
    await rig.crash();
    expect(await command(finished.body['command_id'])).toMatchObject({ status: 'succeeded' });
    agent = await connect('instance-1');
    await agent.next('deploy', 2);
    expect(agent.of('deploy').map((message) => message.id)).toEqual([
      sent.body['command_id'],
      queued.body['command_id'],
    ]);
    // The result that the agent could not deliver before the restart.
    agent.result(String(sent.body['command_id']));
    await untilStatus(sent.body['command_id'], 'succeeded');
  });

  it('clears the connections that the previous run left open', async () => {
    await connect('instance-1');
    await rig.crash();
    expect((await rig.call('GET', '/v1/clusters/production')).body['connected']).toBe(false);
    expect((await deploy()).status).toBe(503);
  });

  it('refuses more open commands than the limit allows', async () => {
    await rig.close();
    rig = await startRig({ config: { max_open_commands: 2 } });
    cluster = await rig.addCluster();
    await deploy({ queue_if_offline: true });
    await deploy({ queue_if_offline: true, project_id: 'blog' });
    const refused = await deploy({ queue_if_offline: true, project_id: 'wiki' });
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: 'TOO_MANY_COMMANDS', details: { limit: 2 } } });
  });

  it('returns 501 when the agent does not support a command', async () => {
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1', [], ['deploy']);
    await agent.next('welcome');
    const { status, body } = await exec();
    expect(status).toBe(501);
    expect(body).toMatchObject({ error: { code: 'UNSUPPORTED' } });
  });

  it('stores progress once, even when the agent resends it', async () => {
    const agent = await connect('instance-1');
    await deploy();
    const { id } = await agent.next('deploy');
    for (const seq of [1, 2, 1, 2, 3]) {
      agent.say('command_progress', { command_id: id, seq, phase: 'apply', message: `step ${seq}` });
    }
    agent.result(id);
    await agent.next('result_ack');
    const notes = await rig.stores.commands.notes(id, 0, 100);
    const progress = notes.filter((note) => note.type === 'progress');
    expect(progress.map((note) => note.data['message'])).toEqual(['step 1', 'step 2', 'step 3']);
  });
});

describe('command timeouts', () => {
  it('time out a command without a result, but not while its agent is offline', async () => {
    const clock = fakeClock();
    const rig = await startRig({ clock });
    try {
      const cluster = await rig.addCluster();
      const connect = async (): Promise<PlayedAgent> => {
        const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
        agent.hello('instance-1');
        await agent.next('welcome');
        return agent;
      };
      const status = async (id: unknown): Promise<unknown> =>
        (await rig.call('GET', `/v1/clusters/production/commands/${String(id)}`)).body['status'];
      let agent = await connect();
      const sent = await rig.call('POST', '/v1/clusters/production/exec', { body: { ...EXEC, timeout_seconds: 10 } });
      await agent.next('exec');
      await agent.close();
      const queued = await rig.call('POST', '/v1/clusters/production/exec', {
        body: { ...EXEC, queue_if_offline: true },
      });
      for (let minute = 0; minute < 10; minute += 1) await clock.advance(60_000);
      expect(await status(sent.body['id'])).toBe('dispatched');
      expect(await status(queued.body['id'])).toBe('queued');
      agent = await connect();
      await agent.next('exec', 2);
      await waitFor(async () => {
        await clock.advance(5000);
        if (agent.closeCode !== undefined) agent = await connect();
        return (await status(sent.body['id'])) === 'timed_out';
      });
    } finally {
      await closeWithClock(rig, clock);
    }
  });

  it("restart when another process continues a killed agent's deploy", async () => {
    const clock = fakeClock();
    const rig = await startRig({ clock });
    try {
      const cluster = await rig.addCluster();
      const connect = async (instanceId: string, inFlight: readonly string[] = []): Promise<PlayedAgent> => {
        const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
        agent.hello(instanceId, inFlight, ['deploy'], 'folder-1');
        await agent.next('welcome');
        return agent;
      };
      const agent = await connect('instance-1');
      const { body } = await rig.call('POST', '/v1/clusters/production/deploy', { body: DEPLOY });
      const id = String(body['command_id']);
      await agent.next('deploy');
      const deadlineMs = async (): Promise<number> =>
        Date.parse((await rig.stores.commands.find(cluster.id, id))?.deadlineAt ?? '');
      const firstMs = await deadlineMs();
      await agent.close();
      await clock.advance(60_000);
      const second = await connect('instance-2', [id]);
      await waitFor(async () => (await deadlineMs()) >= firstMs + 60_000);
      expect(second.of('deploy')).toEqual([]);
    } finally {
      await closeWithClock(rig, clock);
    }
  });
});
