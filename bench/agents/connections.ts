/**
 * `node bench/agents/connections.ts [--agents 10000] [--restart 1000] [--settle 70] [--workers 2] [--tls] [--tunnel]`:
 * connects agents to one platform process, `svc up` on SQLite; each with its own cluster, token, heartbeats and, with
 * `--tunnel`, a tunnel. First measures memory and event loop with all of them. Then restarts the platform with
 * `--restart` of them, gracefully and by SIGKILL, with a downtime of `--away` seconds, and measures how soon each agent
 * is back.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPlatform, type ReadyLine, type RunningPlatform } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';
import { AgentWorkers } from './agent-workers.ts';
import { platformFacts, socketBufferBytes } from './platform-facts.ts';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '10000' },
    restart: { type: 'string', default: '1000' },
    settle: { type: 'string', default: '70' },
    away: { type: 'string', default: '0' },
    workers: { type: 'string', default: '2' },
    tls: { type: 'boolean', default: false },
    tunnel: { type: 'boolean', default: false },
  },
});
const total = Number(values.agents);
const restartCount = Math.min(Number(values.restart), total);
const settleMs = Number(values.settle) * 1000;
const IDLE_MS = 15_000;
/** After a connection of this length, an agent resets its retry counter. */
const STABLE_MS = 61_000;
const MADE_AT_ONCE = 8;

const root = await mkdtemp(join(tmpdir(), 'svc-bench-connections-'));
const workers = new AgentWorkers(Number(values.workers));
const rows: string[][] = [];
let platform: RunningPlatform | undefined;
try {
  await writeFile(join(root, 'config.yaml'), JSON.stringify({ clusters: { max_clusters_per_workspace: 1_000_000 } })); // JSON is YAML
  platform = await start();
  const { ready } = platform;
  const agents = await makeClusters(ready, total);
  await platform.stop(); // measure a process that did not create the clusters
  platform = await start(ready);
  await measureAll(platform, agents);
  workers.keep(restartCount);
  await workers.untilConnected(restartCount);
  platform = await measureReturn('SIGTERM', platform);
  await delay(STABLE_MS);
  platform = await measureReturn('SIGKILL', platform);
  const load = loadavg().map((each) => each.toFixed(2));
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}`;
  const kind = `${values.tls ? 'TLS' : 'plain'}, ${values.tunnel ? 'with' : 'without'} tunnels`;
  process.stdout.write(`${machine}; load ${load.join(', ')}; ${kind}\n\n${markdownTable(['figure', 'value'], rows)}\n`);
} finally {
  workers.stop();
  await platform?.stop();
  await rm(root, { recursive: true, force: true });
}

function start(before?: ReadyLine): Promise<RunningPlatform> {
  const portOf = (url: string | undefined): string => (url === undefined ? '0' : new URL(url).port);
  const ports = [
    ['--port', portOf(before?.url)],
    ['--https-port', portOf(before?.https_url)],
  ];
  return startPlatform({
    dataFolder: join(root, 'data'),
    flags: ['--config', join(root, 'config.yaml'), ...ports.flat()],
    environment: { SVC_SERVICES: 'clusters' },
  });
}

async function makeClusters(ready: ReadyLine, count: number): Promise<Record<string, string>[]> {
  const made: Record<string, string>[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const response = await fetch(`${ready.url}/v1/clusters`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `bench-${index}` }),
      });
      const body = (await response.json()) as { id: string; token: string }; // the documented response
      if (response.status !== 201) throw new Error(`a cluster was answered with ${response.status}`);
      made.push({
        CLUSTER_NAME: `bench-${index}`,
        SVC_CLUSTER_ID: body.id,
        SVC_TOKEN: body.token,
        SVC_API_URL: values.tls ? ready.https_url : ready.url,
        SVC_TLS_INSECURE_SKIP_VERIFY: String(values.tls), // an agent's certificate check costs the platform nothing
        TUNNEL_ENABLED: String(values.tunnel),
      });
    }
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, work));
  return made;
}

async function measureAll({ ready }: RunningPlatform, agents: Record<string, string>[]): Promise<void> {
  await delay(IDLE_MS);
  const idle = await platformFacts(ready);
  const buffersBefore = await socketBufferBytes();
  const startedMs = performance.now();
  workers.start(agents);
  await workers.untilConnected(agents.length);
  const connectMs = performance.now() - startedMs;
  await delay(IDLE_MS); // each agent's first status is stored
  const before = await platformFacts(ready);
  const beganMs = performance.now();
  await delay(settleMs);
  const after = await platformFacts(ready);
  const seconds = (performance.now() - beganMs) / 1000;
  const each = (bytes: number): string => (bytes / agents.length / 1000).toFixed(1);
  rows.push(
    ['agents connected to one process', String(workers.connected)],
    ['all connected for the first time after, s', (connectMs / 1000).toFixed(1)],
    ['resident memory without any, MiB', (idle.residentBytes / 2 ** 20).toFixed(0)],
    ['resident memory with all, MiB', (after.residentBytes / 2 ** 20).toFixed(0)],
    ['for each, KB', each(after.residentBytes - idle.residentBytes)],
    ['buffers of sockets in the kernel for each, both ends, KB', each((await socketBufferBytes()) - buffersBefore)],
    ['event loop late with all, p99 ms', after.loopDelayP99Ms.toFixed(1)],
    ['event loop late with all, most ms', after.loopDelayMaxMs.toFixed(1)],
    ['of one core with all, %', (((after.processorSeconds - before.processorSeconds) / seconds) * 100).toFixed(1)],
  );
}

/**
 * All agents are connected before and after; one that reconnects before the new platform is ready counts for the old
 * one.
 */
async function measureReturn(signal: 'SIGTERM' | 'SIGKILL', running: RunningPlatform): Promise<RunningPlatform> {
  workers.takeBack();
  await (signal === 'SIGTERM' ? running.stop() : running.kill());
  await delay(Number(values.away) * 1000);
  const next = await start(running.ready);
  const readyMs = Date.now();
  await workers.untilConnected(restartCount);
  const back = workers.takeBack().filter(({ atMs }) => atMs > readyMs - next.startMs);
  const afterReady = back.map(({ atMs }) => Math.max(0, atMs - readyMs));
  const afterLoss = back.map(({ afterMs }) => afterMs);
  rows.push(
    [`${back.length} agents back after ${signal}: from the platform's ready line, p50 / last s`, spread(afterReady)],
    [`from the loss of each connection, p50 / last s`, spread(afterLoss)],
    [`the platform's own start, s`, (next.startMs / 1000).toFixed(1)],
  );
  return next;
}

function spread(values: number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    ((sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN) / 1000).toFixed(1);
  return `${at(0.5)} / ${at(1)}`;
}
