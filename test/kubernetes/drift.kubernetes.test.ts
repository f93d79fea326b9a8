import { join } from 'node:path';
import { startTestAgent, TestPlatform, type TestAgent } from '@svc/agent/testing';
import type { EventReport } from '@svc/protocol';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFixture, configMap, textOf } from './agent-fixture.ts';
import { kubernetesRequirement } from './index.ts';
import { makeServiceAccount } from './service-account.ts';

const reason = await kubernetesRequirement(true);
/** Allows for a busy machine. */
const BUSY_MS = 120_000;
const title = 'objects changed after their deploy';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let fixture: AgentFixture;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    fixture = await AgentFixture.start({}, undefined, { apiOnly: true });
  });
  afterAll(async () => {
    await fixture?.stop();
    await folder?.remove();
  });

  function drifts(platform: TestPlatform, name: string, type = 'drift_detected'): EventReport[] {
    const resource = `configmap/${name}`;
    return platform.messages('event').filter((each) => each.event_type === type && each.resource === resource);
  }

  async function driftOf(platform: TestPlatform, name: string, count = 1, type?: string): Promise<EventReport> {
    return waitFor(() => drifts(platform, name, type)[count - 1], {
      timeoutMs: BUSY_MS,
      description: `drift ${count} of ${name}`,
    });
  }

  function patch(name: string, data: Record<string, string>): Promise<string> {
    return fixture.inNamespace('patch', 'configmap', name, '--type=merge', '-p', JSON.stringify({ data }));
  }

  /** Waits until the drift of a probe object is reported, by when all earlier changes have been seen. */
  async function afterAllSeen(platform: TestPlatform, probe: string): Promise<void> {
    const before = drifts(platform, probe).length;
    await patch(probe, { probe: String(before) });
    await driftOf(platform, probe, before + 1);
    const again = await fixture.deploy(configMap(probe, { probe: 'here' }), {
      project_id: probe,
      force_conflicts: true,
    });
    expect(again.status).toBe('succeeded');
  }

  it('are reported once per change, with the field and the manager, and not for our own deploys', async () => {
    await fixture.deploy(configMap('probe', { probe: 'here' }), { project_id: 'probe' });
    await fixture.deploy(configMap('told', { colour: 'red', size: 'small' }), { project_id: 'told' });
    await patch('told', { colour: 'blue' });
    expect(await driftOf(fixture.platform, 'told')).toMatchObject({
      namespace: fixture.namespace,
      details: { project_id: 'told', change: 'changed', fields: '.data.colour', manager: 'kubectl-patch' },
    });
    await patch('told', { colour: 'green', other: 'mine' });
    const deployed = await fixture.deploy(configMap('told', { size: 'large' }), {
      project_id: 'told',
      force_conflicts: true,
    });
    expect(deployed.status).toBe('succeeded');
    await afterAllSeen(fixture.platform, 'probe');
    expect(drifts(fixture.platform, 'told')).toHaveLength(1);
    await fixture.inNamespace('delete', 'configmap', 'told');
    expect(await driftOf(fixture.platform, 'told', 2)).toMatchObject({ details: { change: 'deleted' } });
  });

  it('are not reported for an object that a later deploy removed', async () => {
    await fixture.deploy([configMap('kept'), configMap('left-out')], { project_id: 'pruned' });
    await fixture.deploy([configMap('kept')], { project_id: 'pruned' });
    await afterAllSeen(fixture.platform, 'probe');
    expect(drifts(fixture.platform, 'left-out')).toEqual([]);
  });

  async function restart(stateDir: string, platform: TestPlatform, environment: Record<string, string> = {}) {
    const agent = await startTestAgent({
      platformUrl: platform.url,
      stateDir,
      environment: { KUBECONFIG: fixture.kubernetes.kubeconfig, ...environment },
    });
    await platform.waitForMessage('heartbeat', () => true, BUSY_MS);
    return agent;
  }

  async function deployOver(platform: TestPlatform, project: string, object: object): Promise<void> {
    const payload = { project_id: project, namespace: fixture.namespace, manifest: textOf(object) };
    const id = platform.send('deploy', payload, `cmd-${project}-${platform.connections.length}`);
    expect(await platform.result(id, BUSY_MS)).toMatchObject({ status: 'succeeded' });
  }

  it('are reported after a restart if they changed meanwhile, and not again after another restart', async () => {
    const stateDir = join(folder.path, 'restarts');
    const platform = await TestPlatform.start();
    let agent: TestAgent = await restart(stateDir, platform);
    await deployOver(platform, 'away', [configMap('away', { a: '1' }), configMap('gone', { a: '1' })]);
    await deployOver(platform, 'away-probe', configMap('away-probe', { probe: 'here' }));
    await agent.stop();
    await patch('away', { a: '2' });
    await fixture.inNamespace('delete', 'configmap', 'gone');
    agent = await restart(stateDir, platform);
    expect(await driftOf(platform, 'away')).toMatchObject({ details: { fields: '.data.a' } });
    expect(await driftOf(platform, 'gone')).toMatchObject({ details: { change: 'deleted' } });
    await agent.stop();
    agent = await restart(stateDir, platform);
    await patch('away-probe', { probe: 'away' });
    await driftOf(platform, 'away-probe');
    expect([...drifts(platform, 'away'), ...drifts(platform, 'gone')]).toHaveLength(2);
    await agent.stop();
    await platform.close();
  });

  it('are corrected when configured, by a service account limited to that namespace', async () => {
    const { kubectl, namespace } = fixture;
    const kubeconfig = join(folder.path, 'limited.json');
    await makeServiceAccount({ kubectl, namespace, name: 'limited', file: kubeconfig });
    const verbs = '--verb=get,list,watch,create,patch,delete';
    await fixture.inNamespace('create', 'role', 'limited', verbs, '--resource=configmaps');
    const account = `--serviceaccount=${namespace}:limited`;
    await fixture.inNamespace('create', 'rolebinding', 'limited', '--role=limited', account);
    const platform = await TestPlatform.start();
    const environment = { SVC_DEPLOY_DRIFT: 'correct', KUBECONFIG: kubeconfig };
    const agent = await restart(join(folder.path, 'limited'), platform, environment);
    await deployOver(platform, 'put-back', configMap('put-back', { a: '1' }));
    await patch('put-back', { a: '2', b: 'of somebody' });
    expect(await driftOf(platform, 'put-back', 1, 'drift_corrected')).toMatchObject({ details: { fields: '.data.a' } });
    expect(await fixture.json('configmap', 'put-back')).toMatchObject({ data: { a: '1', b: 'of somebody' } });
    await fixture.inNamespace('delete', 'configmap', 'put-back');
    await driftOf(platform, 'put-back', 2, 'drift_corrected');
    expect(await fixture.json('configmap', 'put-back')).toMatchObject({ data: { a: '1' } });
    expect(drifts(platform, 'put-back')).toHaveLength(2);
    // The restored object is a new one but still belongs to the project: it is deleted when the project drops it.
    const id = platform.send('deploy', {
      project_id: 'put-back',
      namespace,
      manifest: textOf(configMap('instead', { a: '1' })),
    });
    expect(await platform.result(id, BUSY_MS)).toMatchObject({ deploy: { summary: { created: 1, pruned: 1 } } });
    const left = await fixture.inNamespace('get', 'configmap', '-o', 'name');
    expect(left).toContain('configmap/instead');
    expect(left).not.toContain('configmap/put-back');
    await agent.stop();
    await platform.close();
  });
});
