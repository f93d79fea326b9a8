import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '@svc/testing';
import { markdownTable } from '../markdown-table.ts';
import { bulk, latency, requests, stalled } from './measures.ts';
import { Processes } from './processes.ts';
import { chiselReverse, direct, ours, sshReverse, type Subject } from './subjects.ts';

const { values } = parseArgs({
  options: {
    mib: { type: 'string', default: '256' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const sizeMiB = Number(values.mib);
const rounds = Number(values.rounds);

interface Figures {
  one: number[];
  eight: number[];
  requests: number[];
  latencyMs: number[];
}

const folder = await temporaryFolder('svc-bench-tunnel-');
const processes = new Processes();
const subjects: Subject[] = [];
try {
  const backendScript = join(import.meta.dirname, 'backend-main.ts');
  const backend = Number(await processes.firstLine(processes.start(process.execPath, [backendScript])));
  subjects.push(direct(backend));
  subjects.push(await ours(processes, folder.path, backend));
  for (const peer of [await sshReverse(processes, folder.path, backend), await chiselReverse(processes, backend)]) {
    if (peer === null) process.stdout.write('a peer is missing; see bench/tunnel/README.md\n');
    else subjects.push(peer);
  }
  const figures = await measureAll();
  report(figures);
  const mine = subjects.find(({ memoryMiB }) => memoryMiB !== null);
  if (mine?.memoryMiB !== null && mine !== undefined) {
    const growth = await stalled(mine.entrance, 8, mine.memoryMiB);
    process.stdout.write(`\n8 stalled downloads of 1 GiB: platform and agent grow by ${growth.toFixed(1)} MiB\n`);
  }
} finally {
  for (const subject of subjects) await subject.stop?.();
  await processes[Symbol.asyncDispose]();
  await folder.remove();
}

/** Rounds outside, subjects inside, so that other load affects all of them. */
async function measureAll(): Promise<Map<Subject, Figures>> {
  const all = new Map<Subject, Figures>(
    subjects.map((subject) => [subject, { one: [], eight: [], requests: [], latencyMs: [] }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [{ entrance }, figures] of all) {
      figures.one.push(await bulk(entrance, 1, sizeMiB));
      figures.eight.push(await bulk(entrance, 8, sizeMiB));
      figures.requests.push(await requests(entrance, Number(values.seconds)));
      figures.latencyMs.push(await latency(entrance, 500));
    }
  }
  return all;
}

function report(all: ReadonlyMap<Subject, Figures>): void {
  const baseMs = median([...all.values()][0]?.latencyMs ?? []);
  const rows = [...all].map(([{ name }, { one, eight, requests: perSecond, latencyMs }]) => [
    name,
    median(one).toFixed(0),
    median(eight).toFixed(0),
    median(perSecond).toFixed(0),
    (median(latencyMs) - baseMs).toFixed(2),
  ]);
  const columns = ['way', 'MiB/s, 1 stream', 'MiB/s, 8 streams', '1 KiB requests/s', 'added p50 ms'];
  process.stdout.write(`${markdownTable(columns, rows)}\n`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
