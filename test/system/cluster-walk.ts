import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { apiClient } from './api-client.ts';
import { PROJECT_ROOT, type ReadyLine } from './running-platform.ts';

export interface ClusterWalk {
  readonly clusterId: string;
  /** The deployment's status in the platform's response. */
  readonly status: string;
}

interface AgentOptions {
  readonly url: string;
  readonly token: string;
  readonly clusterName: string;
  readonly clusterId: string;
  readonly kubeconfig: string;
  readonly stateFolder: string;
  /** In addition to the contract's variables. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface RunningAgent extends AsyncDisposable {
  log(): string;
  stop(): Promise<void>;
}

const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: walk
spec:
  replicas: 1
  selector: { matchLabels: { app: walk } }
  template:
    metadata: { labels: { app: walk } }
    spec:
      containers:
        - name: walk
          image: localhost/busybox:1
          imagePullPolicy: Never
          command: [sleep, "100000"]
`;

/** Needs only the ready line: creates a cluster, starts an agent with its token, and applies a manifest. */
export async function walkClusters(ready: ReadyLine, kubeconfig: string, folder: string): Promise<ClusterWalk> {
  const api = apiClient(ready);
  const clusterName = 'walk';
  const { id: clusterId, token } = await api.post<{ id: string; token: string }>('/v1/clusters', { name: clusterName });
  const stateFolder = join(folder, 'agent');
  await mkdir(stateFolder);
  await using agent = startAgent({ url: ready.url, token, clusterName, clusterId, kubeconfig, stateFolder });
  await waitFor(
    async () => {
      const cluster = await api.get<{ status: string }>(`/v1/clusters/${clusterId}`);
      return cluster.status === 'online';
    },
    { timeoutMs: 60_000, intervalMs: 250, description: () => `the agent to connect; it said:\n${agent.log()}` },
  );
  const body = { project_id: 'walk', namespace: 'default', manifest: MANIFEST };
  const deployment = await api.post<{ status: string }>(`/v1/clusters/${clusterId}/deploy?wait=60s`, body);
  return { clusterId, status: deployment.status };
}

/** Starts `svc agent run` with the contract's environment variables. */
export function startAgent(options: AgentOptions): RunningAgent {
  const child = spawn(join(PROJECT_ROOT, 'svc'), ['agent', 'run'], {
    cwd: PROJECT_ROOT,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      CLUSTER_NAME: options.clusterName,
      SVC_API_URL: options.url,
      SVC_TOKEN: options.token,
      SVC_CLUSTER_ID: options.clusterId,
      SVC_STATE_DIR: options.stateFolder,
      SVC_AGENT_HOST: '127.0.0.1',
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
      KUBECONFIG: options.kubeconfig,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const keep = (chunk: string): void => {
    log = (log + chunk).slice(-1024 * 1024);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  };
  return { log: () => log, stop, [Symbol.asyncDispose]: stop };
}
