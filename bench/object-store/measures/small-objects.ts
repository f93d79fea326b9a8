import { randomBytes } from 'node:crypto';
import { runLoad } from '../load/run-load.ts';
import { fill, getRequests, putRequests } from './bucket.ts';
import type { Measure } from './measure.ts';

const KIB = 1024;
const CONNECTIONS = 64;
const READ_KEYS = 5_000;
const READ_KIB = 128 * 1024;
/** More than any engine answers in a round. */
const REQUESTS_PER_SECOND = 8_000;

export function smallPuts(milliseconds: number, sizeKib = 4): Measure {
  const body = randomBytes(sizeKib * KIB);
  return {
    name: `${sizeKib} KiB PUT, 64 connections`,
    unit: 'requests/s',
    aim: 1.5,
    prepare: async () => undefined,
    run: async (engine, round) => {
      const count = Math.ceil((milliseconds / 1000) * REQUESTS_PER_SECOND);
      const keys = Array.from({ length: count }, (_, index) => `put/${sizeKib}/${round}/${index.toString(36)}`);
      const requests = putRequests(engine, keys, body);
      const options = { endpoint: engine.endpoint, connections: CONNECTIONS, milliseconds, repeat: false };
      const { requests: answered, seconds } = await runLoad(requests, options);
      return answered / seconds;
    },
  };
}

export function smallGets(milliseconds: number, sizeKib = 4): Measure {
  const count = Math.min(READ_KEYS, READ_KIB / sizeKib);
  const keys = Array.from({ length: count }, (_, index) => `get/${sizeKib}/${index.toString(36)}`);
  const body = randomBytes(sizeKib * KIB);
  return {
    name: `${sizeKib} KiB GET, 64 connections`,
    unit: 'requests/s',
    aim: 1,
    prepare: async (engine) => fill(engine, putRequests(engine, keys, body), CONNECTIONS),
    run: async (engine) => {
      const requests = getRequests(engine, keys);
      const options = { endpoint: engine.endpoint, connections: CONNECTIONS, milliseconds, repeat: true };
      const { requests: answered, seconds } = await runLoad(requests, options);
      return answered / seconds;
    },
  };
}
