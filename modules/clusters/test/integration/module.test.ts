import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent } from '../support/played-agent.ts';
import { startRig, type Rig } from '../support/rig.ts';

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: greeting\ndata:\n  hello: world\n';
const DEPLOY = { project_id: 'shop', namespace: 'default', manifest: MANIFEST };

describe('a cluster from registration to a deployment', () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.close());

  it('returns the token once, with commands that keep it out of the process list', async () => {
    const { status, body } = await rig.call('POST', '/v1/clusters', { body: { name: 'production' } });
    expect(status).toBe(201);
    expect(body['id']).toMatch(/^cls-[0-9a-z]{12}$/);
    expect(body['token']).toMatch(/^svc_agt_[\w-]{43}$/);
    expect(body).toMatchObject({ name: 'production', status: 'pending', connected: false });
    const { helm, kubectl } = body['install'] as { helm: string; kubectl: string };
    expect(helm).toContain('https://platform.example');
    expect(kubectl).toContain(`SVC_CLUSTER_ID: "${String(body['id'])}"`);
    for (const line of [...helm.split('\n'), ...kubectl.split('\n')]) {
      if (/^(helm|kubectl) /.test(line)) expect(line).not.toContain('svc_agt_');
    }
    const again = await rig.call('GET', '/v1/clusters/production');
    expect(again.status).toBe(200);
    expect(JSON.stringify(again.body)).not.toContain('svc_agt_');
  });

  it('refuses to create an agent token, which never expires, with an expiring credential', async () => {
    const cluster = await rig.addCluster('kept');
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { owner: caller } = rig;
    caller.principal.expiresAt = expiresAt;
    const refusal = {
      status: 403,
      body: { error: { code: 'EXPIRING_CREDENTIAL', details: { field: 'Authorization', expires_at: expiresAt } } },
    };
    expect(await rig.call('POST', '/v1/clusters', { caller, body: { name: 'new' } })).toMatchObject(refusal);
    expect(await rig.call('POST', `/v1/clusters/${cluster.id}/token`, { caller })).toMatchObject(refusal);
    caller.principal.expiresAt = null;
    expect((await rig.call('POST', `/v1/clusters/${cluster.id}/token`, { caller })).status).toBe(200);
  });

  it("refuses invalid names with the contract's error body", async () => {
    const { status, body } = await rig.call('POST', '/v1/clusters', { body: { name: 'Not_A_Name' } });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: {
        code: 'INVALID_REQUEST',
        details: { field: 'name', reason: expect.stringContaining('^[a-z0-9-]+$') as unknown },
      },
    });
    await rig.addCluster('production');
    const taken = await rig.call('POST', '/v1/clusters', { body: { name: 'production' } });
    expect(taken.status).toBe(409);
    expect(taken.body).toMatchObject({ error: { code: 'CLUSTER_NAME_TAKEN', details: { field: 'name' } } });
  });

  it('shows the live state reported by the agent', async () => {
    const cluster = await rig.addCluster();
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    expect(await agent.next('welcome')).toMatchObject({
      payload: { resumed: false, last_received_seq: 0, heartbeat_interval_seconds: 30, platform_version: '1.2.3' },
    });
    agent.heartbeat(0.5);
    agent.say('cluster_status', { nodes: 3, pods: 40, services: 7, health: 'healthy' });
    const view = await waitFor(async () => {
      const { body } = await rig.call('GET', `/v1/clusters/${cluster.id}`);
      return body['nodes'] === 3 && body['heartbeat'] !== null ? body : null;
    });
    expect(view).toMatchObject({
      status: 'online',
      connected: true,
      protocol: 'svc',
      agent_version: '9.9.9',
      kubernetes_version: 'v1.33.0',
      pods: 40,
      services: 7,
      heartbeat: { status: 'healthy', cpu_usage: 0.5, memory_usage: 0.35, active_pods: 12 },
    });
    expect(await rig.module.state(rig.owner.workspaceUuid)).toMatchObject({ total: 1, connected: 1, pending: 0 });
    const { body: history } = await rig.call('GET', '/v1/clusters/production/status');
    expect(history['heartbeats']).toMatchObject([{ cpu_usage: 0.5, samples: 1 }]);
    await agent.close();
    await waitFor(async () => (await rig.call('GET', '/v1/clusters/production')).body['connected'] === false);
    expect((await rig.call('GET', '/v1/clusters/production')).body['status']).toBe('online');
  });

  it('deploys: a row, a command, progress, one acknowledged result', async () => {
    const cluster = await rig.addCluster();
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const accepted = await rig.call('POST', '/v1/clusters/production/deploy', { body: DEPLOY });
    expect(accepted.status).toBe(202);
    expect(accepted.body).toMatchObject({ cluster: 'production', project_id: 'shop', namespace: 'default' });
    const deploy = await agent.next('deploy');
    expect(deploy.id).toBe(accepted.body['command_id']);
    expect(deploy.payload).toMatchObject({
      ...DEPLOY,
      actor: { user: `svc:user:${rig.owner.principal.id}`, groups: ['svc:role:owner'] },
    });
    const waiting = rig.call('GET', `/v1/clusters/production/deployments/${String(accepted.body['id'])}?wait=30s`);
    agent.say('command_ack', { command_id: deploy.id, command: 'deploy', state: 'accepted' });
    agent.say('command_progress', { command_id: deploy.id, seq: 1, phase: 'apply', message: 'applying' });
    agent.result(deploy.id);
    expect(await agent.next('result_ack')).toMatchObject({ payload: { command_ids: [deploy.id] } });
    const { body } = await waiting;
    expect(body).toMatchObject({ status: 'succeeded', result: { duration_ms: 5 }, error: null });
  });

  it('returns 200 with the result when the request waits for it', async () => {
    const cluster = await rig.addCluster();
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const calling = rig.call('POST', '/v1/clusters/production/deploy?wait=30s', { body: DEPLOY });
    const deploy = await agent.next('deploy');
    agent.result(deploy.id, 'failed', { error: { code: 'FORBIDDEN', message: 'no', details: { field: 'namespace' } } });
    const { status, body } = await calling;
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'FORBIDDEN', details: { field: 'namespace' } } });
  });

  it('runs a command in a container and returns its output', async () => {
    const cluster = await rig.addCluster();
    const agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    const body = { pod: 'web-1', namespace: 'default', command: ['date'] };
    const calling = rig.call('POST', '/v1/clusters/production/exec?wait=30s', { body });
    const exec = await agent.next('exec');
    const output = { exit_code: 3, container: 'web', stdout_bytes: 2, stderr_bytes: 0, truncated: false };
    agent.result(exec.id, 'succeeded', {
      command: 'exec',
      exec: { ...output, process_may_be_running: false, stdout: 'hi' },
    });
    const answer = await calling;
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'succeeded', result: { exit_code: 3, stdout: 'hi' } });
  });
});
