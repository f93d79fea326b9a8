import { randomBytes } from 'node:crypto';
import { runLoad } from '../load/run-load.ts';
import { fill, getRequests, putRequests } from './bucket.ts';
import type { Measure } from './measure.ts';

const SIZE_BYTES = 4 * 1024;
const CONNECTIONS = 64;
const READ_KEYS = 5_000;
/** More than any engine answers in a round. */
const REQUESTS_PER_SECOND = 8_000;

export function smallPuts(milliseconds: number): Measure {
  const body = randomBytes(SIZE_BYTES);
  return {
    name: '4 KiB PUT, 64 connections',
    unit: 'requests/s',
    aim: 1.5,
    prepare: async () => undefined,
    run: async (engine, round) => {
      const count = Math.ceil((milliseconds / 1000) * REQUESTS_PER_SECOND);
      const keys = Array.from({ length: count }, (_, index) => `put/${round}/${index.toString(36)}`);
      const requests = putRequests(engine, keys, body);
      const options = { endpoint: engine.endpoint, connections: CONNECTIONS, milliseconds, repeat: false };
      const { requests: answered, seconds } = await runLoad(requests, options);
      return answered / seconds;
    },
  };
}

export function smallGets(milliseconds: number): Measure {
  const keys = Array.from({ length: READ_KEYS }, (_, index) => `get/${index.toString(36)}`);
  const body = randomBytes(SIZE_BYTES);
  return {
    name: '4 KiB GET, 64 connections',
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
