import { randomBytes, randomUUID } from 'node:crypto';
import { migrations } from '@svc/migrations';
import { openDatabase, type Database } from '@svc/sql';
import {
  POSTGRES_URL_VARIABLE,
  postgresSource,
  requirement,
  skippedTitle,
  startCuttableProxy,
  type DatabaseSource,
} from '@svc/testing';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MetadataStore } from '../../../src/domain/ports/metadata-store.ts';
import type { PutObject } from '../../../src/domain/ports/objects.ts';
import { openPostgresMetadataStore } from '../../../src/store/postgres/store.ts';
import { tenantLimits } from '../../support/metadata-bench.ts';

const BUCKETS = [1, 2, 3];

const title = 'replicas of the metadata store on PostgreSQL';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let source: DatabaseSource;
  let database: Database<unknown>;
  let url: URL;
  let pools: readonly [Database<unknown>, Database<unknown>];
  let replicas: readonly [MetadataStore, MetadataStore];
  const workspaceUuid = randomUUID();

  beforeAll(async () => {
    source = await postgresSource(process.env[POSTGRES_URL_VARIABLE] ?? '', migrations);
  });
  afterAll(() => source.close());
  beforeEach(async () => {
    database = await source.open<unknown>();
    url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    url.pathname = new URL(database.location ?? '').pathname;
    pools = [openDatabase({ url: url.href }), openDatabase({ url: url.href })];
    replicas = [
      await openPostgresMetadataStore({ database: pools[0], migrations }),
      await openPostgresMetadataStore({ database: pools[1], migrations }),
    ];
    const common = { workspaceUuid, encryptionMode: 'none', locationHint: null, nowMs: 1 } as const;
    const tenant = tenantLimits(workspaceUuid, { buckets: 10 });
    for (const id of BUCKETS) await replicas[0].createBucket({ ...common, id, name: `bucket-${id}`, tenant });
    // Writes to buckets of a known workspace are queued in the order of their calls.
    for (const replica of replicas) for (const bucketId of BUCKETS) await replica.findBucketById({ bucketId });
  });
  afterEach(async () => {
    await close();
    await database.close();
  });

  const close = async (): Promise<void> => {
    for (const replica of replicas) await replica.close();
    for (const pool of pools) await pool.close();
  };

  const put = (key: string, more: Partial<PutObject> = {}): PutObject => ({
    bucketId: 1,
    key,
    nowMs: 1,
    versionToken: randomBytes(8).toString('hex'),
    content: { kind: 'inline', data: Buffer.from(key) },
    sizeBytes: key.length,
    etag: 'e',
    attributes: { contentType: 'x' },
    checksum: null,
    conditions: {},
    trashDueAtMs: 1,
    ...more,
  });
  const deadlocks = async (): Promise<number> => {
    const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
      where datname = current_database()`.execute(database.kysely);
    return rows[0]?.deadlocks ?? 0;
  };

  it('write to several buckets in opposite orders without deadlocks', async () => {
    for (let round = 0; round < 10; round += 1) {
      const writes = replicas.flatMap((replica, number) => {
        const buckets = number === 0 ? BUCKETS : BUCKETS.toReversed();
        return Array.from({ length: 20 }, (_, index) => `${round}/${number}/${index}`).flatMap((key) =>
          buckets.map((bucketId) => replica.putObject(put(key, { bucketId }))),
        );
      });
      await Promise.all(writes);
    }
    const drifts = await replicas[0].usageDrift({ after: -1, limit: 10 });
    expect(drifts.map(({ actual }) => actual.objectCount)).toEqual([400, 400, 400]);
    for (const { counted, actual } of drifts) expect(counted).toEqual(actual);
    await close(); // connections report what they counted at their end
    expect(await deadlocks()).toBe(0);
  });

  it('never pass a quota together, of a bucket or of a workspace', async () => {
    const tenant = tenantLimits(workspaceUuid, { stored_objects: 50 });
    const quota = { bucket: { maxBytes: null, maxObjects: 20 }, tenant };
    const writes = BUCKETS.flatMap((bucketId) =>
      Array.from({ length: 40 }, (_, index) =>
        replicas[index % 2 === 0 ? 0 : 1].putObject(put(`key-${index}`, { bucketId, quota })),
      ),
    );
    const results = await Promise.allSettled(writes);
    const refusals = results.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'QuotaExceeded' });
    const drifts = await replicas[0].usageDrift({ after: -1, limit: 10 });
    const counts = drifts.map(({ actual }) => actual.objectCount);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50);
    expect(Math.max(...counts)).toBeLessThanOrEqual(20);
    for (const { counted, actual } of drifts) expect(counted).toEqual(actual);
  });

  it('admit exactly one of many conditional creates of a key', async () => {
    const conditions = { ifNoneMatch: ['*'] };
    for (const key of ['a', 'b', 'c']) {
      const writes = Array.from({ length: 32 }, (_, index) =>
        replicas[index % 2 === 0 ? 0 : 1].putObject(put(key, { conditions })),
      );
      const results = await Promise.allSettled(writes);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  });

  it('refuse one command of a batch after its writes, and commit the others', async () => {
    const results = await Promise.allSettled([
      replicas[0].putObject(put('a')),
      replicas[0].putObject(put('nul', { etag: 'with \0' })),
      replicas[0].putObject(put('b')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'InvalidArgument' } });
    expect(await replicas[1].findObject({ bucketId: 1, key: 'b' })).not.toBeNull();
  });

  it('read and write on while a migration adds a column', async () => {
    await replicas[0].putObject(put('a'));
    for (let read = 0; read < 3; read += 1) await replicas[0].findBucket({ name: 'bucket-1' });
    await sql`alter table bucket add column later text`.execute(database.kysely);
    expect(await replicas[0].findBucket({ name: 'bucket-1' })).toMatchObject({ id: 1 });
    await replicas[0].putObject(put('b'));
  });

  it('answer 503 while PostgreSQL is away, and go on when it is back', async () => {
    await using proxy = await startCuttableProxy({ host: url.hostname, port: Number(url.port) });
    const away = openDatabase<unknown>({ url: through(url, proxy.port) });
    const replica = await openPostgresMetadataStore({ database: away, migrations });
    const unavailable = { code: 'ServiceUnavailable', status: 503, headers: { 'retry-after': '1' } };
    await replica.putObject(put('a'));
    await proxy.cut();
    await expect(replica.putObject(put('b'))).rejects.toMatchObject(unavailable);
    await expect(replica.findObject({ bucketId: 1, key: 'a' })).rejects.toMatchObject(unavailable);
    await expect(replica.listBuckets({ workspaceUuid, after: '', prefix: '', limit: 1 })).rejects.toMatchObject(
      unavailable,
    );
    await proxy.restore();
    await replica.putObject(put('b'));
    expect(await replica.findObject({ bucketId: 1, key: 'b' })).not.toBeNull();
    await replica.close();
    await away.close();
  });

  it('never report success when the connection breaks at the commit', async () => {
    let armed = false;
    await using proxy = await startCuttableProxy({
      host: url.hostname,
      port: Number(url.port),
      onClientData: (bytes) => (armed && bytes.includes('commit') ? 'cut' : 'pass'),
    });
    const away = openDatabase<unknown>({ url: through(url, proxy.port) });
    const replica = await openPostgresMetadataStore({ database: away, migrations });
    await replica.putObject(put('before'));
    armed = true;
    const results = await Promise.allSettled([replica.putObject(put('a')), replica.putObject(put('b'))]);
    for (const result of results) expect(result).toMatchObject({ reason: { code: 'ServiceUnavailable', status: 503 } });
    armed = false;
    await replica.putObject(put('after'));
    await replica.close();
    await away.close();
  });
});

function through(url: URL, port: number): string {
  const proxied = new URL(url);
  proxied.port = String(port);
  return proxied.href;
}
