/**
 * `node bench/sandboxes/gvisor.ts [--n 100] [--only TEXT] [--pool 4] [--rounds 10] [--mib 256]`: the cost of gVisor.
 * Measures sandboxes that share the kernel and sandboxes behind gVisor alternately on the same machine, and prints the
 * ratio.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureGvisor, GVISOR_VERSION } from '@svc/test/gvisor';
import { markdownTable } from '../markdown-table.ts';
import { distributionOf, rounded, type Distribution } from './figures.ts';
import { measureFiles } from './files.ts';
import { measureMemory } from './memory.ts';
import { measureCreates } from './patterns.ts';
import { measureExec, measurePrograms, PROGRAMS_IMAGE } from './programs.ts';
import { startSvc, type SvcSubject } from './svc-subject.ts';
import { echoes, terminalThroughput } from './terminals.ts';

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
    pool: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '10' },
    mib: { type: 'string', default: '256' },
    folder: { type: 'string', default: tmpdir() },
  },
});

interface Figure {
  readonly name: string;
  /** Shared kernel, then gVisor; for times and sizes, larger is worse. */
  readonly values: readonly number[];
}

const MiB = 1024 * 1024;
const count = Number(values.n);
const rounds = Number(values.rounds);
const wants = (figure: string): boolean => figure.includes(values.only);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const figures: Figure[] = [];
const root = await mkdtemp(join(values.folder, 'svc-bench-gvisor-'));
const stops: (() => Promise<void>)[] = [];
try {
  const load = loadavg().map((each) => each.toFixed(2));
  const { program } = await ensureGvisor();
  const cold = await pair(program, 0);
  if (wants('cold')) await creates('cold', cold);
  if (wants('exec')) times('exec of true, ms', await measureExec(cold, count));
  if (wants('echo')) times('echo of a terminal, ms', await each(cold, (svc) => echoes(svc, 1000)));
  if (wants('throughput')) await throughput(cold);
  if (wants('files')) await files(cold);
  if (wants('memory')) await memory(cold);
  if (wants('programs')) await programs(cold);
  if (wants('warm')) await creates('warm', await pair(program, Number(values.pool)));
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; gVisor ${GVISOR_VERSION}`;
  const rows = figures.map(({ name, values: [shared = NaN, gvisor = NaN] }) => [
    name,
    rounded(shared),
    rounded(gvisor),
    `${rounded(gvisor / shared)}x`,
  ]);
  const table = markdownTable(['', 'shared kernel', 'gVisor', 'gVisor / shared'], rows);
  process.stdout.write(
    `${machine}; load before: ${load.join(', ')}; now: ${loadavg()
      .map((one) => one.toFixed(2))
      .join(', ')}\n\n${table}\n`,
  );
} finally {
  for (const stop of stops.toReversed()) await stop();
  await rm(root, { recursive: true, force: true });
}

/** Two platforms that are otherwise identical. */
async function pair(runsc: string, pool: number): Promise<SvcSubject[]> {
  const imageCache = join(root, 'images');
  const prepare = pool === 0 && wants('programs') ? [PROGRAMS_IMAGE] : [];
  const subjects = [];
  for (const [name, isolation] of [
    ['shared', {}],
    ['gvisor', { runsc }],
  ] as const) {
    const svc = await startSvc({
      folder: join(root, `${name}-${pool}`),
      imageCache,
      image: 'busybox',
      prepare,
      pool,
      ...isolation,
    });
    stops.push(() => svc.stop());
    subjects.push(svc);
  }
  return subjects;
}

async function each<Value>(
  subjects: readonly SvcSubject[],
  measure: (svc: SvcSubject) => Promise<Value>,
): Promise<Value[]> {
  const found = [];
  for (const svc of subjects) found.push(await measure(svc));
  return found;
}

function times(name: string, distributions: readonly Distribution[]): void {
  say(name);
  for (const share of ['p50', 'p95'] as const) {
    figures.push({ name: `${name}, ${share}`, values: distributions.map((one) => one[share]) });
  }
}

async function creates(kind: string, subjects: readonly SvcSubject[]): Promise<void> {
  const found = await measureCreates(subjects, 'sequential', count, say);
  for (const { subject, success } of found)
    if (success < 1) say(`${subject}: only ${rounded(success * 100)} % came up`);
  times(
    `create to running, ${kind}, ms`,
    found.map(({ running }) => running),
  );
  times(
    `create to first prompt, ${kind}, ms`,
    found.map(({ prompt }) => prompt),
  );
}

async function throughput(subjects: readonly SvcSubject[]): Promise<void> {
  const rates: number[][] = subjects.map(() => []);
  for (let round = 0; round < 3; round += 1) {
    for (const [index, svc] of subjects.entries()) rates[index]?.push(await terminalThroughput(svc, 5000));
  }
  figures.push({ name: 'output of a terminal, MB/s', values: rates.map(medianOf) });
}

async function files(subjects: readonly SvcSubject[]): Promise<void> {
  const found = await each(subjects, (svc) => measureFiles(svc, Number(values.mib), 5));
  const name = `one file of ${values.mib} MiB through the API, MB/s`;
  figures.push({ name: `${name}, write`, values: found.map(({ writeMbPerSecond }) => medianOf(writeMbPerSecond)) });
  figures.push({ name: `${name}, read`, values: found.map(({ readMbPerSecond }) => medianOf(readMbPerSecond)) });
}

async function memory(subjects: readonly SvcSubject[]): Promise<void> {
  const found = await each(subjects, (svc) => measureMemory(svc, Math.min(count, 50)));
  const add = (name: string, key: 'sandboxBytes' | 'platformBytes' | 'machineBytes'): void => {
    figures.push({ name, values: found.map((one) => one[key] / MiB) });
  };
  add('an idle sandbox, its processes (PSS), MiB', 'sandboxBytes');
  add('an idle sandbox, growth of the platform (PSS), MiB', 'platformBytes');
  add('an idle sandbox, less available on the machine, MiB', 'machineBytes');
}

async function programs(subjects: readonly SvcSubject[]): Promise<void> {
  for (const { name, ms } of await measurePrograms(subjects, rounds)) times(`${name}, ms`, ms);
}

function medianOf(all: readonly number[]): number {
  return distributionOf(all).p50;
}
