import { runLoad, type PreparedRequest } from '../load/run-load.ts';
import { Signer, type Target } from '../load/signature.ts';
import { BUCKET, fill, putRequests } from './bucket.ts';
import type { Measure } from './measure.ts';

const KEYS = 5_000;
const CONNECTIONS = 4;

export function pages(milliseconds: number): Measure {
  const keys = Array.from({ length: KEYS }, (_, index) => `list/${String(index).padStart(6, '0')}`);
  return {
    name: 'pages of 1,000 keys, 4 connections',
    unit: 'pages/s',
    aim: 1,
    prepare: async (engine) => fill(engine, putRequests(engine, keys, Buffer.from('x')), 64),
    run: async (engine) => {
      const starts = Array.from(
        { length: 100 },
        (_, index) => `list/${String((index * 389) % 4_000).padStart(6, '0')}`,
      );
      const requests = pageRequests(engine, BUCKET, starts);
      const options = { endpoint: engine.endpoint, connections: CONNECTIONS, milliseconds, repeat: true };
      const { requests: answered, seconds } = await runLoad(requests, options);
      return answered / seconds;
    },
  };
}

/** Returns requests for pages of a thousand keys, each after one of the given keys. */
export function pageRequests(target: Target, bucket: string, starts: readonly string[]): PreparedRequest[] {
  const signer = new Signer(target);
  return starts.map((start) => ({
    head: signer.head({
      method: 'GET',
      path: `/${bucket}`,
      query: { 'list-type': '2', 'max-keys': '1000', 'start-after': start },
    }),
  }));
}
