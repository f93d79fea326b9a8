import { randomBytes } from 'node:crypto';
import { runLoad } from '../load/run-load.ts';
import { fill, getRequests, putRequests } from './bucket.ts';
import type { Measure } from './measure.ts';

const MEGABYTE = 1_000_000;
const SIZE_BYTES = 64 * 1024 * 1024;
const CONNECTIONS = 4;
const OBJECTS_PER_ROUND = 12;
const ROUND_LIMIT_MS = 120_000;

/** The same number of bytes for every engine, under the same keys in each round, so that the disk does not fill up. */
export function largePuts(): Measure {
  const body = randomBytes(SIZE_BYTES);
  const keys = Array.from({ length: OBJECTS_PER_ROUND }, (_, index) => `large-put/${index}`);
  return {
    name: '64 MiB PUT, 4 connections',
    unit: 'MB/s',
    aim: 1,
    prepare: async () => undefined,
    run: async (engine) => megabytesPerSecond(engine.endpoint, putRequests(engine, keys, body)),
  };
}

export function largeGets(): Measure {
  const body = randomBytes(SIZE_BYTES);
  const keys = Array.from({ length: CONNECTIONS }, (_, index) => `large-get/${index}`);
  const wanted = Array.from({ length: 4 * OBJECTS_PER_ROUND }, (_, index) => keys[index % keys.length] ?? '');
  return {
    name: '64 MiB GET, 4 connections',
    unit: 'MB/s',
    aim: 1,
    prepare: async (engine) => fill(engine, putRequests(engine, keys, body), CONNECTIONS),
    run: async (engine) => megabytesPerSecond(engine.endpoint, getRequests(engine, wanted)),
  };
}

async function megabytesPerSecond(endpoint: string, requests: ReturnType<typeof getRequests>): Promise<number> {
  const options = { endpoint, connections: CONNECTIONS, milliseconds: ROUND_LIMIT_MS, repeat: false };
  const { bytes, seconds } = await runLoad(requests, options);
  return bytes / MEGABYTE / seconds;
}
