import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent, type PlayedAgent } from '../support/played-agent.ts';
import { startRig, type Rig } from '../support/rig.ts';

const DAY_MS = 86_400_000;
const MANIFEST = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}';

let rig: Rig;
let name: string;
let agent: PlayedAgent;
let count = 0;

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 } });
});
afterAll(() => rig.close());
beforeEach(async () => {
  name = `cluster-${(count += 1)}`;
  const cluster = await rig.addCluster(name);
  agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
  agent.hello(`instance-${count}`);
  await agent.next('welcome');
  return () => agent.close();
});

interface Told {
  clock_skew_seconds: number | null;
  warnings: { code: string; message: string }[];
}

/** The cluster as returned by both `GET …/clusters/{c}` and `…/status`. */
async function told(matches: (cluster: Told) => boolean): Promise<Told> {
  const cluster = await waitFor(async () => {
    const { body } = await rig.call('GET', `/v1/clusters/${name}`);
    const seen = body as unknown as Told; // the fields that the route declares
    return matches(seen) ? seen : null;
  });
  const { body } = await rig.call('GET', `/v1/clusters/${name}/status`);
  expect(body['cluster']).toMatchObject({ warnings: cluster.warnings });
  return cluster;
}

describe('an agent clock', () => {
  it.each([
    ['ahead of', DAY_MS],
    ['behind', -DAY_MS],
  ])('a day %s ours causes a warning until it is corrected', async (side, skewMs) => {
    agent.clockSkewMs = skewMs;
    agent.heartbeat();
    const wrong = await told(({ warnings }) => warnings.length > 0);
    expect(wrong.warnings).toEqual([{ code: 'CLOCK_SKEW', message: expect.stringContaining(side) as string }]);
    expect(Math.sign(wrong.clock_skew_seconds ?? 0)).toBe(Math.sign(skewMs));
    agent.clockSkewMs = 0;
    agent.heartbeat();
    expect((await told(({ warnings }) => warnings.length === 0)).warnings).toEqual([]);
  });

  it('may report any year', async () => {
    agent.clockSkewMs = Date.parse('9999-01-01T00:00:00Z') - Date.now();
    agent.heartbeat();
    expect((await told(({ warnings }) => warnings.length > 0)).clock_skew_seconds).toBe(1_000_000_000);
    expect(agent.closeCode).toBeUndefined();
  });

  it('has no effect on a result, its times or the online status', async () => {
    agent.clockSkewMs = -DAY_MS;
    agent.heartbeat();
    await told(({ warnings }) => warnings.length > 0);
    expect((await rig.call('GET', `/v1/clusters/${name}`)).body).toMatchObject({ status: 'online', connected: true });
    const before = new Date().toISOString();
    const body = { project_id: 'shop', namespace: 'shop', manifest: MANIFEST };
    const { body: deployment } = await rig.call('POST', `/v1/clusters/${name}/deploy`, { body });
    const { id } = await agent.next('deploy');
    agent.say('command_ack', { command_id: id, command: 'deploy', state: 'accepted' });
    agent.result(id);
    const path = `/v1/clusters/${name}/deployments/${String(deployment['id'])}`;
    const done = await waitFor(async () => {
      const { body: seen } = await rig.call('GET', path);
      return seen['finished_at'] === null ? null : seen;
    });
    expect(done['status']).toBe('succeeded');
    for (const field of ['created_at', 'sent_at', 'acknowledged_at', 'finished_at']) {
      expect(String(done[field]) >= before, field).toBe(true);
      expect(String(done[field]) <= new Date().toISOString(), field).toBe(true);
    }
  });
});

describe('two agents with one token', () => {
  it('cause a warning when the first returns after the second; a restarted agent does not', async () => {
    const { id, token } = await rig.addCluster(`shared-${name}`);
    const path = `/v1/clusters/shared-${name}`;
    const codes = async (): Promise<unknown> => {
      const { warnings } = (await rig.call('GET', path)).body as unknown as Told; // the fields that the route declares
      return warnings.map(({ code }) => code);
    };
    for (const instance of ['first', 'restarted', 'other', 'other']) {
      const each = await connectAgent({ port: rig.port, token, clusterId: id });
      each.hello(instance);
      await each.next('welcome');
      expect(await codes()).toEqual([]);
    }
    const back = await connectAgent({ port: rig.port, token, clusterId: id });
    back.hello('restarted');
    await back.next('welcome');
    expect(await codes()).toEqual(['TWO_AGENTS']);
    await back.close();
  });
});

describe('limitations reported by an agent', () => {
  it('cause a warning while the agent reports them', async () => {
    const status = { nodes: 0, pods: 4, services: 2, health: 'degraded' };
    const limitations = [{ feature: 'events of nodes', reason: 'nodes is forbidden' }];
    agent.say('cluster_status', { ...status, limitations });
    expect((await told(({ warnings }) => warnings.length > 0)).warnings).toEqual([
      { code: 'LIMITED', message: 'The agent does not report events of nodes: nodes is forbidden' },
    ]);
    agent.say('cluster_status', status);
    expect((await told(({ warnings }) => warnings.length === 0)).warnings).toEqual([]);
  });

  it('are refused unless they are a list of features and reasons', async () => {
    const status = { nodes: 0, pods: 4, services: 2, health: 'degraded' };
    agent.say('cluster_status', { ...status, limitations: [{ feature: 7 }] });
    expect((await agent.next('error')).payload).toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
