/**
 * `node bench/object-store/main.ts [--engines svc,minio,ceph] [--rounds 5] [--seconds 4] [--only TEXT] [--alone]`:
 * compares our object store with others in one run, with one client and durable settings for each; then takes the
 * measurements that have no peer. Prints every round, then a table.
 */
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { descendants } from '@svc/test/process-facts';
import { measureAlone } from './alone/alone.ts';
import { compareEngines } from './compare.ts';
import { startCephEngine } from './engines/ceph.ts';
import { countSyncs, type SyncCount } from './engines/durability.ts';
import type { Engine } from './engines/engine.ts';
import { startMinio } from './engines/minio.ts';
import { startSvc } from './engines/svc.ts';
import { makeBucket } from './measures/bucket.ts';
import { largeGets, largePuts } from './measures/large-objects.ts';
import { pages } from './measures/pages.ts';
import { smallGets, smallPuts } from './measures/small-objects.ts';
import { aloneTable, comparisonTable, durabilityTable } from './tables.ts';

const { values } = parseArgs({
  options: {
    engines: { type: 'string', default: 'svc,minio,ceph' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    folder: { type: 'string', default: tmpdir() },
    alone: { type: 'boolean', default: false },
    together: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const root = await mkdtemp(join(values.folder, 'svc-bench-'));
const load = `load of the machine before: ${loadavg()
  .map((each) => each.toFixed(2))
  .join(', ')}`;
try {
  const tables = [`${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; ${load}`];
  if (!values.alone) tables.push(...(await together()));
  if (!values.together) tables.push(aloneTable(await measureAlone(root, values.only, say)));
  process.stdout.write(`${tables.join('\n\n')}\n`);
} finally {
  await rm(root, { recursive: true, force: true });
}

async function together(): Promise<string[]> {
  const milliseconds = Number(values.seconds) * 1000;
  const measures = [smallPuts(milliseconds), smallGets(milliseconds), largePuts(), largeGets(), pages(milliseconds)];
  const engines: Engine[] = [];
  const syncs: (SyncCount | null)[] = [];
  try {
    for (const name of values.engines.split(',')) {
      const before = descendants(process.pid);
      const engine = await start(name);
      engines.push(engine);
      await makeBucket(engine);
      const processes = [...descendants(process.pid).keys()].filter((pid) => !before.has(pid));
      syncs.push(await countSyncs(engine, processes));
    }
    const wanted = measures.filter((measure) => measure.name.includes(values.only));
    const comparisons = await compareEngines(engines, wanted, Number(values.rounds), say);
    return [durabilityTable(syncs.filter((each) => each !== null)), comparisonTable(comparisons)];
  } finally {
    for (const engine of engines) await engine.stop();
  }
}

async function start(name: string): Promise<Engine> {
  switch (name) {
    case 'svc':
      return startSvc(join(root, 'svc'));
    case 'minio':
      return startMinio(join(root, 'minio'));
    case 'ceph':
      return startCephEngine();
    default:
      throw new Error(`unknown engine ${name}`);
  }
}
