import { join } from 'node:path';
import { median } from '../compare.ts';
import type { Engine } from '../engines/engine.ts';
import { startSvc } from '../engines/svc.ts';
import { makeBucket } from '../measures/bucket.ts';
import { largeGets, largePuts } from '../measures/large-objects.ts';
import { smallGets, smallPuts } from '../measures/small-objects.ts';
import type { Figure } from './figure.ts';

const ROUNDS = 5;
const ROUND_MS = 4_000;

/** Alternating rounds with and without encryption on two platforms: the cost of encryption at rest. */
export async function measureEncryption(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const engines: Record<'none' | 'sse-s3', Engine> = {
    none: await startSvc(join(folder, 'none'), { SVC_OBJECT_STORE_DEFAULT_ENCRYPTION: 'none' }),
    'sse-s3': await startSvc(join(folder, 'sse-s3'), { SVC_OBJECT_STORE_DEFAULT_ENCRYPTION: 'sse-s3' }),
  };
  const figures: Figure[] = [];
  try {
    for (const engine of Object.values(engines)) await makeBucket(engine);
    for (const measure of [smallPuts(ROUND_MS), smallGets(ROUND_MS), largePuts(), largeGets()]) {
      const found: Record<keyof typeof engines, number[]> = { none: [], 'sse-s3': [] };
      for (const engine of Object.values(engines)) await measure.prepare(engine);
      for (let round = 0; round < ROUNDS; round += 1) {
        found.none.push(await measure.run(engines.none, round));
        found['sse-s3'].push(await measure.run(engines['sse-s3'], round));
      }
      const [clear, sealed] = [median(found.none), median(found['sse-s3'])];
      say(`${measure.name}: ${clear.toFixed(0)} ${measure.unit} in the clear, ${sealed.toFixed(0)} encrypted`);
      const name = `${measure.name}, encrypted`;
      figures.push({ name, value: (100 * sealed) / clear, unit: '% of in the clear', aim: '>= 70 %' });
    }
    return figures;
  } finally {
    for (const engine of Object.values(engines)) await engine.stop();
  }
}
