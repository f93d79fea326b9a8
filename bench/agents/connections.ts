/**
 * `node bench/agents/connections.ts [--agents 10000] [--restart 1000] [--settle 60] [--workers 2]`: agents connected to one
 * platform process with a heartbeat every 30 s each. First so many that a restart of the platform is watched: how soon
 * each is back. Then all of them: what the process weighs more, for each.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPlatform, type RunningPlatform } from '@svc/test/running-platform';
import { waitFor } from '@svc/testing';
import { markdownTable } from '../markdown-table.ts';
import type { WorkerOrder, WorkerReport } from './agents-worker.ts';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '10000' },
    restart: { type: 'string', default: '1000' },
    settle: { type: 'string', default: '60' },
    workers: { type: 'string', default: '2' },
  },
});
const total = Number(values.agents);
const restartCount = Math.min(Number(values.restart), total);
const settleMs = Number(values.settle) * 1000;
const WAIT_MS = 30 * 60_000;
const MADE_AT_ONCE = 8;

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const root = await mkdtemp(join(tmpdir(), 'svc-bench-connections-'));
const workers: { child: ChildProcess; connected: number; backMs: number[] }[] = [];
let platform: RunningPlatform | undefined;
try {
  const configuration = join(root, 'config.yaml');
  const clusters = { max_clusters_per_workspace: 1_000_000, connects_per_minute: 1000 };
  await writeFile(configuration, JSON.stringify({ clusters })); // JSON is YAML
  const start = (port: string): Promise<RunningPlatform> =>
    startPlatform({
      dataFolder: join(root, 'data'),
      flags: ['--config', configuration, '--port', port],
      environment: { SVC_SERVICES: 'clusters', SVC_LOG_LEVEL: 'warn' },
    });
  platform = await start('0');
  const { url, token } = platform.ready;
  const agents = await makeClusters(url, token, total);
  startWorkers();
  const load = loadavg().map((each) => each.toFixed(2));

  orderAgents(url, agents.slice(0, restartCount));
  await untilConnected(restartCount);
  say(`${restartCount} agents are connected; the platform restarts`);
  for (const worker of workers) worker.backMs.length = 0;
  await platform.stop();
  platform = await start(new URL(url).port);
  await untilConnected(restartCount);
  const back = workers.flatMap(({ backMs }) => backMs).toSorted((a, b) => a - b);
  const startMs = platform.startMs;

  await delay(settleMs);
  const before = await residentBytes(platform.ready.pid);
  orderAgents(url, agents.slice(restartCount));
  await untilConnected(total);
  await delay(settleMs);
  const after = await residentBytes(platform.ready.pid);
  const each = total > restartCount ? (after - before) / (total - restartCount) : Number.NaN;
  const at = (share: number): string => ((back[Math.floor((back.length - 1) * share)] ?? Number.NaN) / 1000).toFixed(1);
  process.stdout.write(
    `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; load ${load.join(', ')}\n\n`,
  );
  process.stdout.write(
    `${markdownTable(
      ['figure', 'value'],
      [
        [`connected to one process`, String(total)],
        [`resident memory with all, MiB`, (after / 2 ** 20).toFixed(0)],
        [`for each of ${total - restartCount} more, KB`, (each / 1000).toFixed(1)],
        [`${restartCount} agents back after a restart, p50 s`, at(0.5)],
        [`the last of them, s`, at(1)],
        [`of that the platform's own start, s`, (startMs / 1000).toFixed(1)],
      ],
    )}\n`,
  );
} finally {
  for (const { child } of workers) child.kill();
  await platform?.stop();
  await rm(root, { recursive: true, force: true });
}

async function makeClusters(url: string, token: string, count: number): Promise<WorkerOrder['agents']> {
  const made: WorkerOrder['agents'] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const response = await fetch(`${url}/v1/clusters`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `bench-${index}` }),
      });
      const body = (await response.json()) as { id: string; token: string }; // the documented answer
      if (response.status !== 201) throw new Error(`a cluster was answered with ${response.status}`);
      made.push({ id: body.id, token: body.token });
    }
  };
  await Promise.all(Array.from({ length: MADE_AT_ONCE }, work));
  return made;
}

function startWorkers(): void {
  for (let index = 0; index < Number(values.workers); index += 1) {
    const worker = { child: fork(join(import.meta.dirname, 'agents-worker.ts')), connected: 0, backMs: [] as number[] };
    worker.child.on('message', (report: WorkerReport) => {
      worker.connected = report.connected;
      worker.backMs.push(...report.backMs);
    });
    workers.push(worker);
  }
}

function orderAgents(url: string, agents: WorkerOrder['agents']): void {
  for (const [index, { child }] of workers.entries()) {
    const order: WorkerOrder = { url, agents: agents.filter((_, at) => at % workers.length === index) };
    child.send(order);
  }
}

async function untilConnected(count: number): Promise<void> {
  const connected = (): number => workers.reduce((sum, worker) => sum + worker.connected, 0);
  await waitFor(() => connected() === count, {
    timeoutMs: WAIT_MS,
    intervalMs: 100,
    description: () => `${count} agents; ${connected()} are there`,
  });
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024;
}
