import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKubeClient, kubeconfigAccess, type KubeClient } from '@svc/kube';
import { temporaryFolder, waitFor } from '@svc/testing';
import { TEST_IMAGE } from '../kubernetes/agent-fixture.ts';
import { startKubernetes, type Kubernetes } from '../kubernetes/index.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { AgentProcess } from './agent-process.ts';
import { FaultyLink } from './link.ts';
import { PlatformApi } from './platform-api.ts';

export const NAMESPACE = 'chaos';
export const WORKER = 'worker';
/** Its log counts; commands write to its journal. */
const WORKER_SCRIPT = 'touch /tmp/journal; i=0; while true; do echo n-$i; i=$((i+1)); sleep 0.1; done';

/** Nothing is rate-limited, and nothing is pruned before it is checked. */
const CLUSTERS = {
  connects_per_minute: 10_000,
  retention: { commands_per_cluster: 1_000_000, events_per_cluster: 1_000_000 },
};

/** A real cluster, a platform and an agent as separate processes, and the link between the two. */
export interface World {
  readonly kubernetes: Kubernetes;
  /** A client for the cluster, other than the agent. */
  readonly client: KubeClient;
  readonly link: FaultyLink;
  readonly agent: AgentProcess;
  readonly api: PlatformApi;
  killPlatform(): Promise<void>;
  startPlatform(): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(say: (line: string) => void = () => undefined): Promise<World> {
  const folder = await temporaryFolder('svc-chaos-');
  const ends: (() => Promise<unknown>)[] = [() => folder.remove()];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const kubernetes = await startKubernetes({ say });
    ends.push(() => kubernetes.stop());
    const client = createKubeClient(await kubeconfigAccess(kubernetes.kubeconfig, undefined, Date.now));
    ends.push(async () => client.close());
    await prepareNamespace(kubernetes, client);
    const link = await FaultyLink.open();
    ends.push(() => link.close());
    const platform = await managedPlatform(folder.path, link);
    ends.push(platform.kill);
    const cluster = await platform.api.addCluster();
    const { kubeconfig } = kubernetes;
    const stateDir = join(folder.path, 'state');
    const agent = new AgentProcess({ platformUrl: link.url, kubeconfig, stateDir, cluster });
    ends.push(() => agent.kill());
    agent.start();
    await waitFor(() => platform.api.isConnected(), { timeoutMs: 120_000, description: 'the agent' });
    await waitFor(() => agent.log.split('watching a kind').length === 6, {
      timeoutMs: 120_000,
      description: 'five kinds to be watched',
    });
    return {
      kubernetes,
      client,
      link,
      agent,
      api: platform.api,
      killPlatform: platform.kill,
      startPlatform: platform.start,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function prepareNamespace({ kubectl }: Kubernetes, client: KubeClient): Promise<void> {
  await kubectl('create', 'namespace', NAMESPACE);
  await waitFor(() => client.get({ apiVersion: 'v1', kind: 'ServiceAccount', namespace: NAMESPACE, name: 'default' }));
  const container = {
    name: 'main',
    image: TEST_IMAGE,
    command: ['sh', '-c', WORKER_SCRIPT],
    imagePullPolicy: 'IfNotPresent',
  };
  await client.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: WORKER, namespace: NAMESPACE },
    spec: { terminationGracePeriodSeconds: 0, containers: [container] },
  });
  await kubectl('-n', NAMESPACE, 'wait', '--for=condition=Ready', `pod/${WORKER}`, '--timeout=120s');
}

/** A platform whose data survives it. */
async function managedPlatform(folder: string, link: FaultyLink) {
  const config = join(folder, 'platform.yaml');
  await writeFile(config, JSON.stringify({ clusters: CLUSTERS })); // JSON is YAML
  const api = new PlatformApi();
  let running: RunningPlatform | null = null;
  const start = async (): Promise<void> => {
    running = await startPlatform({
      dataFolder: join(folder, 'data'),
      flags: ['--config', config],
      environment: { SVC_SERVICES: 'clusters', SVC_LOG_LEVEL: 'warn' },
    });
    const { hostname, port } = new URL(running.ready.url);
    link.target = { host: hostname, port: Number(port) };
    api.platform = running.ready;
  };
  const kill = async (): Promise<void> => {
    const ending = running;
    running = null;
    link.target = null;
    api.platform = null;
    await ending?.kill();
  };
  await start();
  return { api, start, kill };
}
