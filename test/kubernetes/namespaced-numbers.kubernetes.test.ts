import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startTestAgent, TestPlatform, type TestAgent } from '@svc/agent/testing';
import type { Heartbeat } from '@svc/protocol';
import { skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_IMAGE } from './agent-fixture.ts';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';
import { makeServiceAccount } from './service-account.ts';

const reason = await kubernetesRequirement();
const title = 'metrics of an agent limited to one namespace';
/** Measurements arrive every 15 seconds, later on a busy machine. */
const BUSY_MS = 180_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const namespace = `numbers-${randomUUID().slice(0, 8)}`;
  let kubernetes: Kubernetes;
  let folder: TemporaryFolder;
  let platform: TestPlatform;
  let agent: TestAgent;

  beforeAll(async () => {
    kubernetes = await startKubernetes({ metrics: true });
    folder = await temporaryFolder();
    const { kubectl } = kubernetes;
    await kubectl('create', 'namespace', namespace);
    const kubeconfig = join(folder.path, 'limited.json');
    await makeServiceAccount({ kubectl, namespace, name: 'limited', file: kubeconfig });
    await permit('seen', 'pods,services');
    await permit('measured', 'pods.metrics.k8s.io');
    const busy = {
      name: 'busy',
      image: TEST_IMAGE,
      command: ['sh', '-c', 'while true; do :; done'],
      resources: { limits: { cpu: '100m', memory: '64Mi' } },
    };
    const unbound = { name: 'unbound', image: TEST_IMAGE, command: ['sleep', '86400'] };
    const spec = { terminationGracePeriodSeconds: 0, containers: [busy, unbound] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'busy' }, spec };
    await waitFor(() => kubectl('-n', namespace, 'get', 'serviceaccount', 'default').catch(() => undefined));
    await kubectl.withInput(JSON.stringify(pod), '-n', namespace, 'create', '-f', '-');
    platform = await TestPlatform.start();
    agent = await startTestAgent({
      platformUrl: platform.url,
      environment: { KUBECONFIG: kubeconfig, SVC_KUBERNETES_NAMESPACES: namespace, SVC_EVENTS_ENABLED: 'false' },
    });
  });
  afterAll(async () => {
    await agent?.stop();
    await platform?.close();
    await kubernetes?.kubectl('delete', 'namespace', namespace, '--wait=false');
    await kubernetes?.stop();
    await folder?.remove();
  });

  async function permit(name: string, resources: string): Promise<void> {
    const { kubectl } = kubernetes;
    await kubectl('-n', namespace, 'create', 'role', name, '--verb=get,list', `--resource=${resources}`);
    const account = `--serviceaccount=${namespace}:limited`;
    await kubectl('-n', namespace, 'create', 'rolebinding', name, `--role=${name}`, account);
  }

  /** The first report of a connection, which includes its status. */
  async function latest(): Promise<{ heartbeat: Heartbeat | undefined; health: string | undefined }> {
    const before = platform.messages('cluster_status').length;
    platform.connection.socket.terminate();
    await waitFor(() => platform.messages('cluster_status').length > before || undefined, { timeoutMs: BUSY_MS });
    const health = platform.messages('cluster_status').at(-1)?.health;
    return { heartbeat: platform.messages('heartbeat').at(-1), health };
  }

  async function ready(): Promise<unknown> {
    await waitFor(() => platform.connections.some(({ closeCode }) => closeCode === null));
    return (await agent.get('/readyz')).json();
  }

  it('show usage relative to limits, and the cluster is healthy while the agent can read all of it', async () => {
    await expect
      .poll(async () => (await latest()).heartbeat?.metrics.cpu_usage, { timeout: BUSY_MS, interval: 1000 })
      .toBeGreaterThan(0);
    const { heartbeat, health } = await latest();
    expect(heartbeat).toMatchObject({ status: 'healthy', metrics: { active_pods: 1 } });
    expect(heartbeat?.metrics.memory_usage).toBeGreaterThan(0);
    expect(heartbeat?.metrics.memory_usage).toBeLessThan(1);
    expect(health).toBe('healthy');
    expect(await ready()).toMatchObject({ status: 'ready', checks: { kubernetes: 'ok' } });
    await kubernetes.kubectl('-n', namespace, 'delete', 'rolebinding', 'measured');
    await expect
      .poll(async () => (await latest()).heartbeat, { timeout: BUSY_MS, interval: 1000 })
      .toMatchObject({ status: 'degraded', metrics: { cpu_usage: 0, memory_usage: 0, active_pods: 1 } });
    expect(await ready()).toMatchObject({ status: 'ready', checks: { kubernetes: 'degraded' } });
  });
});
