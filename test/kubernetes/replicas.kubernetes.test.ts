import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgresPrograms, skippedTitle, startCuttableProxy, waitFor, type CuttableProxy } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandLine } from '../command-line/command-line.ts';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startAgent, type RunningAgent } from '../system/cluster-walk.ts';
import { tunnelOpened } from '../tunnel/tunnel-fixture.ts';
import { TEST_IMAGE } from './agent-fixture.ts';
import { binariesFolder, helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from './sandbox-namespace.ts';
import { startTwoReplicas, type TwoReplicas } from './two-replicas.ts';

const run = promisify(execFile);
const noPostgres = findPostgresPrograms() === null ? 'needs PostgreSQL' : null;
const reason = noPostgres ?? (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'a real cluster whose agent is connected to one of two replicas';
/** Allows for a busy machine. */
const BUSY_MS = 120_000;
/** A cluster and two replicas. */
const START_MS = 600_000;

interface Sandbox {
  readonly id: string;
  readonly status: string;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let replicas: TwoReplicas;
  let balancer: CuttableProxy;
  let agent: RunningAgent;
  let clusterId: string;
  let apis: readonly [ApiClient, ApiClient];
  /** Where the agent connects: an index of the replicas. */
  let leadsTo: 0 | 1 = 0;

  beforeAll(async () => {
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc-agent');
    replicas = await startTwoReplicas({
      services: ['clusters', 'sandboxes'],
      sandboxes: {
        driver: 'kubernetes', // of no cluster: sandboxes of connected clusters need no driver of the platform
        images: [{ name: 'tiny', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }],
      },
    });
    const [first, second] = replicas.platforms;
    apis = [apiClient(first.ready), apiClient(second.ready)];
    balancer = await startCuttableProxy({
      host: '127.0.0.1',
      get port() {
        return Number(new URL(replicas.platforms[leadsTo].ready.url).port);
      },
    });
    const created = await apis[0].post<{ id: string; token: string }>('/v1/clusters', { name: 'home' });
    clusterId = created.id;
    agent = startAgent({
      url: `http://127.0.0.1:${balancer.port}`,
      token: created.token,
      clusterName: 'home',
      clusterId,
      kubeconfig: kubernetes.kubeconfig, // so that kubectl may do anything
      stateFolder: join(replicas.folder, 'agent'),
      environment: {
        TUNNEL_ENABLED: 'true',
        SVC_EVENTS_ENABLED: 'false',
        SANDBOXES_ENABLED: 'true',
        SANDBOXES_NAMESPACE: namespace.name,
        SANDBOXES_HELPER_IMAGE: HELPER_IMAGE,
        SANDBOXES_USER_NAMESPACES: 'false',
        SANDBOXES_NETWORK_POLICIES: 'trust', // few test clusters enforce them
      },
    });
    await tunnelOpened(first, clusterId);
  }, START_MS);
  afterAll(async () => {
    await agent?.stop();
    await balancer?.[Symbol.asyncDispose]();
    await replicas?.[Symbol.asyncDispose]();
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
  });

  const exec = async (at: ApiClient, id: string, command: string): Promise<string> =>
    (await at.post<{ stdout: string }>(`/api/containers/${id}/exec`, { command })).stdout;
  const answers = (at: ApiClient, id: string): Promise<unknown> =>
    waitFor(
      () =>
        exec(at, id, 'echo here').then(
          (output) => output === 'here\n',
          () => false,
        ),
      { timeoutMs: BUSY_MS, intervalMs: 200, description: () => `the sandbox to answer\n${agent.log()}` },
    );
  const pods = async (id: string): Promise<string[]> => {
    const query = ['get', 'pods', '-l', `svc.dev/sandbox=${id}`, '-o', 'jsonpath={.items[*].metadata.uid}'];
    return (await kubernetes.kubectl('-n', namespace.name, ...query)).split(' ').filter((uid) => uid !== '');
  };

  it('is used by kubectl at the other replica', async () => {
    const { url, token } = replicas.platforms[1].ready;
    const svc = new CommandLine({ HOME: replicas.folder, SVC_URL: url, SVC_TOKEN: token }, replicas.folder);
    const kubeconfig = join(replicas.folder, 'kubeconfig');
    await svc.answer(['kubeconfig', 'home', '--out', kubeconfig]);
    const env = { PATH: process.env['PATH'] ?? '', HOME: replicas.folder, KUBECONFIG: kubeconfig };
    const kubectl = async (...args: string[]): Promise<string> =>
      (await run(join(binariesFolder(), 'kubectl'), ['-n', namespace.name, ...args], { env })).stdout;
    expect(await kubectl('get', 'pods', '-o', 'name')).toBe('');
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes\n');
    const made = ['run', 'box', `--image=${TEST_IMAGE}`, '--image-pull-policy=IfNotPresent', '--restart=Never'];
    await kubectl(...made, '--command', '--', 'sh', '-c', 'echo from the pod; sleep 1000');
    await kubectl('wait', 'pod/box', '--for=condition=Ready', '--timeout=120s');
    expect(await kubectl('logs', 'box')).toBe('from the pod\n');
    expect(await kubectl('exec', 'box', '--', 'echo', 'inside')).toBe('inside\n');
    await kubectl('delete', 'pod', 'box', '--now');
  });

  it('keeps its sandboxes when the agent moves to the other replica, which drives them from then on', async () => {
    const [first, second] = apis;
    const isConnected = async (): Promise<boolean> =>
      (await first.get<{ clusters: { connected: boolean }[] }>('/api/sandbox-clusters')).clusters.some(
        ({ connected }) => connected,
      );
    await waitFor(isConnected, { timeoutMs: BUSY_MS, description: () => `sandboxes in the cluster\n${agent.log()}` });
    const wanted = { image: 'tiny', network: 'none', cluster: 'home' };
    const { id } = await second.post<Sandbox>('/api/containers', wanted); // the replica without the tunnel
    await answers(second, id);
    await exec(second, id, '(trap "" HUP; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
    const before = await pods(id);
    expect(before).toHaveLength(1);

    leadsTo = 1;
    await balancer.cut();
    await balancer.restore();
    await tunnelOpened(replicas.platforms[1], clusterId);
    await answers(second, id);
    await answers(first, id);
    expect(await exec(first, id, 'kill -0 $(cat /root/pid) && echo runs on')).toBe('runs on\n');
    expect(await pods(id)).toEqual(before);

    // A replica that dies takes no sandbox with it either.
    leadsTo = 0;
    await replicas.platforms[1].kill();
    await tunnelOpened(replicas.platforms[0], clusterId);
    await answers(first, id);
    expect(await exec(first, id, 'kill -0 $(cat /root/pid) && echo runs on')).toBe('runs on\n');
    expect(await pods(id)).toEqual(before);
    await first.delete(`/api/containers/${id}`);
    await waitFor(async () => (await pods(id)).length === 0, { timeoutMs: BUSY_MS, description: 'no pod' });
  });
});
