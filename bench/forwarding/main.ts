/**
 * `node bench/forwarding/main.ts [--requests 1000] [--warm-up 2000] [--pause-ms 0]`: what a request costs more at a replica that does not
 * hold its sandbox. Two `svc up` share one PostgreSQL; the same request goes to the owner and to the other one in turns.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { processorMs } from '@svc/test/process-facts';
import { startPlatform, type ReadyLine } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';
import { startDurablePostgres } from '../object-store/engines/postgres.ts';
import { percentile, send, type Call } from './measure.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000' },
    'warm-up': { type: 'string', default: '2000' },
    'pause-ms': { type: 'string', default: '0' },
    image: { type: 'string', default: 'busybox' },
  },
});

const CALLS: readonly (Call & { readonly name: string })[] = [
  { name: 'list of files', method: 'GET', path: '/files/list?path=/etc' },
  { name: 'file of 4 KiB', method: 'GET', path: '/files?path=/root/file' },
  { name: 'exec `true`', method: 'POST', path: '/exec', body: { command: 'true' } },
];
/** Percentiles of the table. The 10th shows the cost without waiting for a core. */
const SHARES = [0.1, 0.5, 0.95];

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-forwarding-'));
const postgres = await startDurablePostgres(folder);
try {
  process.stdout.write(`${await measureAll()}\n`);
} finally {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measureAll(): Promise<string> {
  const load = loadavg().map((each) => each.toFixed(2));
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; load before: ${load.join(', ')}`;
  const start = (name: string) =>
    startPlatform({
      dataFolder: join(folder, name),
      environment: {
        SVC_DATABASE_URL: postgres.url,
        SVC_MASTER_KEY: '00'.repeat(32), // the data is gone after the run
        SVC_SERVICES: 'sandboxes',
        SVC_LOG_LEVEL: 'warn',
      },
    });
  await using owner = await start('owner');
  await using other = await start('other');
  const token = other.ready.token;
  const client = { agent: new Agent({ keepAlive: true }), token };
  const id = await createSandbox(owner.ready, token);
  try {
    const rows: string[][] = [];
    for (const { name, ...call } of CALLS) {
      const path = `/api/sandboxes/${id}${call.path}`;
      const at = ({ url }: ReadyLine): Promise<number> => send(client, url, { ...call, path });
      rows.push([
        name,
        ...(await measureInTurns(
          () => at(owner.ready),
          () => at(other.ready),
        )),
        ...(await measureWork([owner.ready, other.ready], at)),
      ]);
    }
    const percentiles = ['owner', 'other', 'added'].flatMap((each) => [`${each} p10 ms`, 'p50', 'p95']);
    const headings = ['request', ...percentiles, 'processor ms, owner', 'other'];
    return `${machine}\n\n${markdownTable(headings, rows)}`;
  } finally {
    await fetch(`${owner.ready.url}/api/sandboxes/${id}`, { method: 'DELETE', headers: bearer(token) });
    client.agent.destroy();
  }
}

/** The order of the two changes with each turn, so that neither profits from the other. */
async function measureInTurns(direct: () => Promise<number>, forwarded: () => Promise<number>): Promise<string[]> {
  const times: { direct: number[]; forwarded: number[] } = { direct: [], forwarded: [] };
  const measure = async (name: 'direct' | 'forwarded'): Promise<void> => {
    times[name].push(await (name === 'direct' ? direct() : forwarded()));
    await sleep(Number(values['pause-ms']));
  };
  for (let turn = -Number(values['warm-up']); turn < Number(values.requests); turn += 1) {
    if (turn === 0) times.direct.length = times.forwarded.length = 0;
    await measure(turn % 2 === 0 ? 'direct' : 'forwarded');
    await measure(turn % 2 === 0 ? 'forwarded' : 'direct');
  }
  const atOwner = SHARES.map((share) => percentile(times.direct, share));
  const atOther = SHARES.map((share) => percentile(times.forwarded, share));
  const added = atOther.map((each, index) => each - (atOwner[index] ?? Number.NaN));
  return [...atOwner, ...atOther, ...added].map((each) => each.toFixed(2));
}

/** Processor time of both replicas for a request to each of them, which depends less on other work than its duration. */
async function measureWork(
  replicas: readonly ReadyLine[],
  at: (replica: ReadyLine) => Promise<number>,
): Promise<string[]> {
  const work = (): number => replicas.reduce((sum, { pid }) => sum + processorMs(pid), 0);
  const figures: string[] = [];
  for (const replica of replicas) {
    const before = work();
    for (let count = 0; count < Number(values.requests); count += 1) await at(replica);
    figures.push(((work() - before) / Number(values.requests)).toFixed(2));
  }
  return figures;
}

async function createSandbox({ url }: ReadyLine, token: string): Promise<string> {
  const headers = { ...bearer(token), 'content-type': 'application/json' };
  const body = JSON.stringify({ image: values.image, network: 'none' });
  const made = await fetch(`${url}/api/sandboxes?wait_ms=30000`, { method: 'POST', headers, body });
  const { id } = (await made.json()) as { id: string }; // the documented answer
  const ready = await fetch(`${url}/api/sandboxes/${id}?wait_for=running&timeout=60`, { headers });
  if (!ready.ok) throw new Error(`the sandbox does not run: ${await ready.text()}`);
  const file = await fetch(`${url}/api/sandboxes/${id}/files?path=/root/file`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/octet-stream' },
    body: Buffer.alloc(4096, 7),
  });
  if (!file.ok) throw new Error(`no file was written: ${await file.text()}`);
  return id;
}

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}
