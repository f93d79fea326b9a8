/**
 * `node bench/sandboxes/main.ts [--n 100] [--image busybox] [--only TEXT] [--subjects cold,warm,docker] [--pool 8]`:
 * start time, memory and throughput of sandboxes, compared to `docker run` and a bare PTY in the same run.
 */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDockerSubject } from './docker-subject.ts';
import { measureE2b, type E2bFigures } from './e2b.ts';
import { measureFiles } from './files.ts';
import { measureMemory } from './memory.ts';
import { measureCreates, PATTERNS, type CreateFigures } from './patterns.ts';
import { measureProcessor, type ProcessorRound } from './processor-time.ts';
import type { Subject } from './subject.ts';
import { startSvc, type SvcSubject } from './svc-subject.ts';
import {
  createsTable,
  e2bTable,
  echoTable,
  filesTable,
  memoryTable,
  processorTable,
  throughputTable,
} from './tables.ts';
import { echoes, rawThroughput, terminalThroughput } from './terminals.ts';
import { ttydThroughput } from './ttyd.ts';

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '100' },
    image: { type: 'string', default: 'busybox' },
    only: { type: 'string', default: '' },
    subjects: { type: 'string', default: 'cold,warm,docker' },
    pool: { type: 'string', default: '8' },
    parallel: { type: 'string', default: '1' },
    mib: { type: 'string', default: '256' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    folder: { type: 'string', default: tmpdir() },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const wants = (figure: string): boolean => figure.includes(values.only);
const count = Number(values.n);
const durationMs = Number(values.seconds) * 1000;
const root = await mkdtemp(join(values.folder, 'svc-bench-sandboxes-'));
const imageCache = join(root, 'images');
const stops: (() => Promise<void>)[] = [];
try {
  const load = `load of the machine before: ${loadavg()
    .map((each) => each.toFixed(2))
    .join(', ')}`;
  const tables = [`${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; ${load}`];
  const cold = await startSvc({ folder: join(root, 'cold'), imageCache, image: values.image, pool: 0 });
  stops.push(() => cold.stop());
  tables.push(...(await alone(cold)));
  tables.push(...(await together(cold)));
  process.stdout.write(`${tables.join('\n\n')}\n`);
} finally {
  for (const stop of stops.toReversed()) await stop();
  await rm(root, { recursive: true, force: true });
}

/** Measurements that need only one platform. */
async function alone(svc: SvcSubject): Promise<string[]> {
  const tables: string[] = [];
  if (wants('throughput')) {
    const rounds = [];
    const imageRoot = await rootOf(values.image);
    const ttyd = process.env['SVC_BENCH_TTYD'];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      rounds.push({
        raw: await rawThroughput(imageRoot, durationMs),
        ttyd: ttyd === undefined ? null : await ttydThroughput(ttyd, imageRoot, durationMs),
        terminal: await terminalThroughput(svc, durationMs),
      });
    }
    tables.push(throughputTable(rounds));
  }
  if (wants('echo')) tables.push(echoTable(await echoes(svc, 1000)));
  if (wants('files'))
    tables.push(filesTable(Number(values.mib), await measureFiles(svc, Number(values.mib), Number(values.rounds))));
  if (wants('processor')) {
    const measured: ProcessorRound[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      measured.push(await measureProcessor(svc, count, Number(values.parallel)));
    }
    tables.push(processorTable(measured));
  }
  if (wants('memory')) tables.push(memoryTable(await measureMemory(svc, count)));
  return tables;
}

async function together(cold: SvcSubject): Promise<string[]> {
  const patterns = PATTERNS.filter(wants);
  if (patterns.length === 0 && !wants('e2b')) return [];
  const subjects: Subject[] = [];
  for (const name of values.subjects.split(',')) subjects.push(name === 'cold' ? cold : await startSubject(name));
  const tables = wants('e2b') ? [await ofE2b(subjects.filter(isSvc))] : [];
  if (patterns.length === 0) return tables;
  const figures: CreateFigures[] = [];
  for (const pattern of patterns) figures.push(...(await measureCreates(subjects, pattern, count, say)));
  return [...tables, createsTable(figures)];
}

function isSvc(subject: Subject): subject is SvcSubject {
  return 'client' in subject;
}

async function ofE2b(subjects: readonly SvcSubject[]): Promise<string> {
  const figures: E2bFigures[] = [];
  for (const subject of subjects) figures.push(await measureE2b(subject, values.image, count));
  return e2bTable(figures);
}

async function startSubject(name: string): Promise<Subject> {
  if (name !== 'warm' && name !== 'docker') throw new Error(`unknown subject ${name}`);
  const subject =
    name === 'docker'
      ? await startDockerSubject(await rootOf(values.image))
      : await startSvc({ folder: join(root, name), imageCache, image: values.image, pool: Number(values.pool) });
  stops.push(() => subject.stop());
  return subject;
}

/** The sandboxes' unpacked image; those from the built-in local sources have one layer. */
async function rootOf(image: string): Promise<string> {
  const name = (await readdir(join(imageCache, 'names'))).find((each) => each.startsWith(`${image}-`));
  const { digest } = JSON.parse(await readFile(join(imageCache, 'names', name ?? ''), 'utf8')) as { digest: string }; // our own
  const record = await readFile(join(imageCache, 'images', digest, 'image.json'), 'utf8');
  const { layers } = JSON.parse(record) as { layers: { name: string }[] }; // our own
  if (layers.length !== 1) throw new Error(`${image} has ${layers.length} layers; docker import takes one`);
  return join(imageCache, 'layers', layers[0]?.name ?? '', 'tree');
}
