/**
 * `node bench/agents/memory.ts [--pods 5000] [--settle 60]`: resident memory of the agent, bundled as delivered and
 * connected to a platform: idle, while pods are created in a real API server, and started with the pods already there.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AGENT_NODE_FLAGS, bundleAgent, readAgentStamp } from '@svc/agent/build';
import { TestPlatform } from '@svc/agent/testing';
import { createKubeClient, kubeconfigAccess, type KubeClient } from '@svc/kube';
import { startKubernetes } from '@svc/test/kubernetes';
import { waitFor } from '@svc/testing';
import { markdownTable } from '../markdown-table.ts';
import { podOf, podStatusOf } from './pods.ts';

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '5000' }, settle: { type: 'string', default: '60' } },
});
const podCount = Number(values.pods);
const settleMs = Number(values.settle) * 1000;
const MADE_AT_ONCE = 16;

const root = await mkdtemp(join(tmpdir(), 'svc-bench-agents-'));
const stops: (() => Promise<unknown>)[] = [() => rm(root, { recursive: true, force: true })];
try {
  const program = join(root, 'svc-agent.cjs');
  const project = join(import.meta.dirname, '../..');
  const { code } = await bundleAgent(project, await readAgentStamp(project));
  await writeFile(program, code);
  const kubernetes = await startKubernetes({ dir: join(root, 'cluster'), apiOnly: true });
  stops.push(() => kubernetes.stop());
  const platform = await TestPlatform.start();
  stops.push(() => platform.close());
  const client = createKubeClient(await kubeconfigAccess(kubernetes.kubeconfig, undefined, () => Date.now()));
  stops.push(async () => client.close());
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'bench' } });

  const rows: string[][] = [];
  const first = await startAgent(program, platform, kubernetes.kubeconfig);
  rows.push(['idle', ...(await measured(first))]);
  await makePods(client);
  rows.push([`${podCount} pods made while it watches`, ...(await measured(first))]);
  await end(first);
  const second = await startAgent(program, platform, kubernetes.kubeconfig);
  rows.push([`started with ${podCount} pods there`, ...(await measured(second))]);
  await end(second);
  const bare = spawn(process.execPath, [...AGENT_NODE_FLAGS, '-e', 'setInterval(() => undefined, 60000)'], {
    stdio: 'ignore',
  });
  await delay(1000);
  rows.push(['Node.js alone', ...(await memoryOf(bare))]);
  bare.kill();
  const load = loadavg().map((each) => each.toFixed(2));
  process.stdout.write(
    `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; load ${load.join(', ')}\n\n`,
  );
  process.stdout.write(`${markdownTable(['agent', 'RSS MiB', 'anonymous MiB', 'peak MiB'], rows)}\n`);
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function startAgent(program: string, platform: TestPlatform, kubeconfig: string): Promise<ChildProcess> {
  const connections = platform.connections.length;
  const child = spawn(process.execPath, [...AGENT_NODE_FLAGS, program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      CLUSTER_NAME: 'bench',
      SVC_API_URL: platform.url,
      SVC_TOKEN: 'svc_agt_token_of_the_bench',
      SVC_AGENT_HOST: '127.0.0.1',
      SVC_AGENT_PORT: '0',
      SVC_METRICS_PORT: '0',
      SVC_STATE_DIR: join(root, 'state'),
      KUBECONFIG: kubeconfig,
      LOG_LEVEL: 'warn',
      MALLOC_ARENA_MAX: '2', // as set by the image and the unit
    },
  });
  stops.push(() => end(child));
  await waitFor(() => platform.connections.length > connections, { description: 'the agent' });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  await ended;
}

/** Measures after heartbeats and garbage collections. */
async function measured(child: ChildProcess): Promise<string[]> {
  await delay(settleMs);
  return memoryOf(child);
}

async function memoryOf({ pid = 0 }: ChildProcess): Promise<string[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return ['VmRSS', 'RssAnon', 'VmHWM'].map((name) => {
    const kib = Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
    return (kib / 1024).toFixed(1);
  });
}

/** Creates pods with the bodies and statuses of a kubelet, which are small in memory but large on the wire. */
async function makePods(client: KubeClient): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < podCount; index = next++) {
      const pod = podOf(index);
      await client.create(pod);
      const response = await client.transport.send({
        method: 'PATCH',
        path: `/api/v1/namespaces/bench/pods/${pod.metadata.name}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ status: podStatusOf(index) }),
      });
      response.resume();
      if (response.statusCode !== 200) throw new Error(`a status was answered with ${response.statusCode ?? 0}`);
    }
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, work));
}
