/**
 * `node bench/fairness/main.ts [--seconds 15] [--rounds 2] [--only TEXT] [--image busybox]`: the effect of one
 * workspace's full load on the latency of another on the same platform.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPlatform } from '@svc/test/running-platform';
import { markdownTable } from '../markdown-table.ts';
import { measureBeside, measureLight, percentile } from './measure.ts';
import { createTenant } from './tenant.ts';
import type { WorkName } from './work.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    image: { type: 'string', default: 'busybox' },
    folder: { type: 'string', default: tmpdir() },
    'image-cache': { type: 'string' },
  },
});

interface Kind {
  readonly name: string;
  readonly light: WorkName;
  readonly heavy: readonly WorkName[];
}

const ALL_KINDS: readonly Kind[] = [
  { name: 'put', light: 'put', heavy: ['put'] },
  { name: 'large', light: 'large', heavy: ['large'] },
  { name: 'get', light: 'get', heavy: ['get'] },
  { name: 'multipart', light: 'multipart', heavy: ['multipart'] },
  { name: 'create', light: 'create', heavy: ['create'] },
  { name: 'burn', light: 'put', heavy: ['burn'] },
  { name: 'mixed', light: 'put', heavy: ['put', 'large', 'create'] },
];
const KINDS = ALL_KINDS.filter(({ name }) => name.includes(values.only));
const milliseconds = Number(values.seconds) * 1_000;

const root = await mkdtemp(join(values.folder, 'svc-bench-fairness-'));
try {
  process.stdout.write(`${await measureAll()}\n`);
} finally {
  await rm(root, { recursive: true, force: true });
}

async function measureAll(): Promise<string> {
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; load before: ${loadavg()
    .map((each) => each.toFixed(2))
    .join(', ')}`;
  const configuration = join(root, 'config.yaml');
  await mkdir(root, { recursive: true });
  await writeFile(configuration, JSON.stringify(configurationOf())); // JSON is YAML
  const platform = await startPlatform({
    dataFolder: join(root, 'data'),
    flags: ['--config', configuration],
    environment: { SVC_LOG_LEVEL: 'warn' },
  });
  try {
    const tenants = { a: await createTenant(platform.ready, 'a'), b: await createTenant(platform.ready, 'b') };
    const rows: string[][] = [];
    for (const kind of KINDS) rows.push(await measureKind(kind, tenants));
    const headings = ['kind', 'B alone p50 ms', 'p95 ms', 'B beside A p50 ms', 'p95 ms', 'p95 ratio', 'A, per second'];
    return `${machine}\n\n${markdownTable(headings, rows)}`;
  } finally {
    await platform.stop();
  }
}

async function measureKind(kind: Kind, tenants: Parameters<typeof measureBeside>[1]): Promise<string[]> {
  const alone: number[] = [];
  const beside: number[] = [];
  let doneByA = 0;
  for (let round = 0; round < Number(values.rounds); round += 1) {
    alone.push(...(await measureLight(kind.light, tenants.b, values.image, milliseconds)));
    const measured = await measureBeside(kind.light, tenants, kind.heavy, values.image, milliseconds);
    beside.push(...measured.latenciesMs);
    doneByA += measured.doneByA;
    process.stderr.write(
      `${kind.name}: alone ${percentile(alone, 0.95).toFixed(1)} ms, beside ${percentile(beside, 0.95).toFixed(1)} ms\n`,
    );
  }
  const figures = [percentile(alone, 0.5), percentile(alone, 0.95), percentile(beside, 0.5), percentile(beside, 0.95)];
  const ratio = percentile(beside, 0.95) / percentile(alone, 0.95);
  const rate = doneByA / (Number(values.rounds) * Number(values.seconds));
  return [kind.name, ...figures.map((each) => each.toFixed(1)), ratio.toFixed(2), rate.toFixed(0)];
}

/** Lifts limits that would stop A before the queues do. */
function configurationOf(): unknown {
  const imageCache = values['image-cache'];
  return {
    sandboxes: {
      ...(imageCache === undefined ? {} : { image_cache: imageCache }),
      image_registry: '',
      max_per_caller: 100_000,
      max_creates_per_minute: 1_000_000,
    },
    object_store: { trash_grace_seconds: 1, limits: { management_requests_per_second: 10_000 } },
  };
}
