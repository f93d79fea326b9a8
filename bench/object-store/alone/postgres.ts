import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { startEngine } from '@svc/test/replica-engine';
import { startCuttableProxy } from '@svc/testing';
import { median } from '../compare.ts';
import { startDurablePostgres } from '../engines/postgres.ts';
import { startSvc, type SvcEngine } from '../engines/svc.ts';
import { runLoad } from '../load/run-load.ts';
import { BUCKET, makeBucket, putRequests } from '../measures/bucket.ts';
import { smallGets, smallPuts } from '../measures/small-objects.ts';
import type { Figure } from './figure.ts';

const ROUNDS = 3;
const ROUND_MS = 5_000;
const CONNECTIONS = 64;
/** Half a millisecond each way. */
const ROUND_TRIP_MS = 1;
const REQUESTS_PER_SECOND = 4_000;
const BUCKETS = [BUCKET, `${BUCKET}-2`, `${BUCKET}-3`];

interface Subjects {
  readonly sqlite: SvcEngine;
  readonly postgres: SvcEngine;
  readonly distant: SvcEngine;
  readonly second: SvcEngine;
}

/** PostgreSQL with durable settings beside SQLite, with a network between, and with two replicas; alternating rounds. */
export async function measurePostgres(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const server = await startDurablePostgres(folder);
  const url = new URL(server.url);
  const proxy = await startCuttableProxy({
    host: url.hostname,
    port: Number(url.port),
    roundTripMs: ROUND_TRIP_MS,
  });
  const started: SvcEngine[] = [];
  const start = async (name: string, environment: Readonly<Record<string, string>>): Promise<SvcEngine> => {
    const engine = await startSvc(join(folder, name), environment);
    started.push(engine);
    return engine;
  };
  const masterKey = randomBytes(32).toString('base64');
  const engine = await startEngine(); // for all replicas, though 4 KiB never reach it
  const shared = { ...engine.environment, SVC_DATABASE_URL: url.href, SVC_MASTER_KEY: masterKey };
  try {
    const sqlite = await start('sqlite', {});
    const postgres = await start('first', shared);
    const second = await start('second', shared);
    url.port = String(proxy.port);
    const distant = await start('distant', { ...shared, SVC_DATABASE_URL: url.href });
    await makeBucket(sqlite);
    for (const bucket of BUCKETS) await makeBucket(postgres, bucket);
    return await measureSubjects({ sqlite, postgres, distant, second }, say);
  } finally {
    for (const each of started) await each.stop();
    await engine[Symbol.asyncDispose]();
    await proxy.cut();
    await server.stop();
  }
}

async function measureSubjects(subjects: Subjects, say: (line: string) => void): Promise<Figure[]> {
  const { sqlite, postgres, distant, second } = subjects;
  const puts = smallPuts(ROUND_MS);
  const gets = smallGets(ROUND_MS);
  for (const engine of [sqlite, postgres]) await gets.prepare(engine);
  const measures: readonly (readonly [name: string, aim: string, run: (round: number) => Promise<number>])[] = [
    ['4 KiB PUT, SQLite', '', (round) => puts.run(sqlite, round)],
    ['4 KiB PUT, PostgreSQL', '>= 1,800', (round) => puts.run(postgres, round)],
    ['4 KiB PUT, PostgreSQL 0.5 ms away', '>= 1,200', (round) => puts.run(distant, 100 + round)],
    ['4 KiB PUT, 3 buckets on 2 replicas', '>= 80 % of one', (round) => putToBuckets([postgres, second], 200 + round)],
    ['4 KiB GET, SQLite', '', (round) => gets.run(sqlite, round)],
    ['4 KiB GET, PostgreSQL', '>= 3,000', (round) => gets.run(postgres, round)],
  ];
  const found = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, , run] of measures) {
      const figure = await run(round);
      say(`${name}, round ${round + 1}: ${figure.toFixed(0)} requests/s`);
      found.set(name, [...(found.get(name) ?? []), figure]);
    }
  }
  return measures.map(([name, aim]) => ({ name, value: median(found.get(name) ?? []), unit: 'requests/s', aim }));
}

/** Every replica writes to every bucket, each with its share of the connections. */
async function putToBuckets(replicas: readonly SvcEngine[], round: number): Promise<number> {
  const body = randomBytes(4 * 1024);
  const rates = replicas.map(async (replica, number) => {
    const count = Math.ceil((ROUND_MS / 1000) * REQUESTS_PER_SECOND);
    const keys = Array.from({ length: count }, (_, index) => `put/${round}/${number}/${index.toString(36)}`);
    const requests = putRequests(replica, keys, body, (index) => BUCKETS[index % BUCKETS.length] ?? BUCKET);
    const { requests: answered, seconds } = await runLoad(requests, {
      endpoint: replica.endpoint,
      connections: CONNECTIONS / replicas.length,
      milliseconds: ROUND_MS,
      repeat: false,
    });
    return answered / seconds;
  });
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
}
