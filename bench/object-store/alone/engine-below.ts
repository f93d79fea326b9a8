import { join } from 'node:path';
import { compareEngines } from '../compare.ts';
import { startCephEngine } from '../engines/ceph.ts';
import type { Engine } from '../engines/engine.ts';
import { startMinio } from '../engines/minio.ts';
import { startDurablePostgres } from '../engines/postgres.ts';
import { startSvc } from '../engines/svc.ts';
import { makeBucket } from '../measures/bucket.ts';
import type { Measure } from '../measures/measure.ts';
import { smallGets, smallPuts } from '../measures/small-objects.ts';
import type { Figure } from './figure.ts';

const ROUNDS = 3;
const ROUND_MS = 5_000;
const BLOBS = 'blobs';

/** Ceph RGW and MinIO alone, and our store on PostgreSQL with each of them as its engine; alternating rounds. */
export async function measureEnginesBelow(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const start of [startCephEngine, () => startMinio(join(folder, 'minio'))]) {
    const engine = await start();
    try {
      figures.push(...(await measureAbove(engine, join(folder, engine.name), say)));
    } finally {
      await engine.stop();
    }
  }
  return figures;
}

async function measureAbove(engine: Engine, folder: string, say: (line: string) => void): Promise<Figure[]> {
  const server = await startDurablePostgres(folder);
  try {
    await makeBucket(engine, BLOBS);
    const environment = {
      SVC_DATABASE_URL: server.url,
      SVC_OBJECT_STORE_ENGINE: 's3',
      SVC_OBJECT_STORE_S3_ENDPOINT: engine.endpoint,
      SVC_OBJECT_STORE_S3_BUCKET: BLOBS,
      SVC_OBJECT_STORE_S3_REGION: engine.region,
      SVC_OBJECT_STORE_S3_ACCESS_KEY_ID: engine.accessKeyId,
      SVC_OBJECT_STORE_S3_SECRET_ACCESS_KEY: engine.secretAccessKey,
    };
    const figures: Figure[] = [];
    for (const [index, { title, variables, measures }] of SUBJECTS.entries()) {
      const svc = await startSvc(join(folder, 'data'), { ...environment, ...variables });
      try {
        if (index === 0) for (const each of [engine, svc]) await makeBucket(each);
        figures.push(...(await compare(engine, svc, { title, measures, say })));
      } finally {
        await svc.stop();
      }
    }
    return figures;
  } finally {
    await server.stop();
  }
}

/** Our store, as it is compared to the engine below. */
interface Subject {
  /** Names it in the figures. */
  readonly title: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly measures: readonly Measure[];
}

const SUBJECTS: readonly Subject[] = [
  {
    title: 'svc',
    variables: {},
    measures: [4, 256].flatMap((sizeKib) => [smallPuts(ROUND_MS, sizeKib), smallGets(ROUND_MS, sizeKib)]),
  },
  {
    title: 'svc without its cache of reads',
    variables: { SVC_OBJECT_STORE_S3_READ_CACHE_BYTES: '0' },
    measures: [smallGets(ROUND_MS, 256)],
  },
];

async function compare(
  engine: Engine,
  svc: Engine,
  { title, measures, say }: Pick<Subject, 'title' | 'measures'> & { say: (line: string) => void },
): Promise<Figure[]> {
  const comparisons = await compareEngines([engine, svc], measures, ROUNDS, say);
  return comparisons.flatMap(({ measure, medians, ratio }) => [
    { name: `${measure.name}: ${engine.name}`, value: medians.get(engine.name) ?? 0, unit: measure.unit, aim: '' },
    {
      name: `${measure.name}: ${title} over ${engine.name}`,
      value: medians.get('svc') ?? 0,
      unit: measure.unit,
      aim: '',
    },
    { name: `${measure.name}: ratio, ${title}`, value: ratio ?? 0, unit: '', aim: aimOf(engine, measure.name) },
  ]);
}

/** Small objects stay in the database; larger ones cross two servers. */
function aimOf(engine: Engine, measure: string): string {
  if (measure.startsWith('256')) return '>= 0.6';
  return measure.includes('PUT') && engine.name === 'Ceph RGW' ? '>= 1.5' : '';
}
