/**
 * `node bench/forwarding/main.ts [--requests 1000] [--pause-ms 0]`: what a request costs more at a replica that does not
 * hold its sandbox. Two `svc up` share one PostgreSQL; the same request goes to the owner and to the other one in turns.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPlatform, type ReadyLine } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';
import { startDurablePostgres } from '../object-store/engines/postgres.ts';
import { percentile, send, type Call } from './measure.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000' },
    'pause-ms': { type: 'string', default: '0' },
    image: { type: 'string', default: 'busybox' },
  },
});

const CALLS: readonly (Call & { readonly name: string })[] = [
  { name: 'list of files', method: 'GET', path: '/files/list?path=/etc' },
  { name: 'file of 4 KiB', method: 'GET', path: '/files?path=/root/file' },
  { name: 'exec `true`', method: 'POST', path: '/exec', body: { command: 'true' } },
];
const WARM_UP = 50;

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
      ]);
    }
    const headings = ['request', 'owner p50 ms', 'p95 ms', 'other p50 ms', 'p95 ms', 'added p50 ms', 'added p95 ms'];
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
  for (let turn = -WARM_UP; turn < Number(values.requests); turn += 1) {
    if (turn === 0) times.direct.length = times.forwarded.length = 0;
    await measure(turn % 2 === 0 ? 'direct' : 'forwarded');
    await measure(turn % 2 === 0 ? 'forwarded' : 'direct');
  }
  const [p50, p95] = [0.5, 0.95].map((share) => ({
    direct: percentile(times.direct, share),
    forwarded: percentile(times.forwarded, share),
  }));
  const figures = [p50?.direct, p95?.direct, p50?.forwarded, p95?.forwarded, added(p50), added(p95)];
  return figures.map((each = Number.NaN) => each.toFixed(2));
}

function added(at: { direct: number; forwarded: number } | undefined): number {
  return at === undefined ? Number.NaN : at.forwarded - at.direct;
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
