import {
  freePort,
  POSTGRES_URL_VARIABLE,
  requirement,
  skippedTitle,
  startCuttableProxy,
  type CuttableProxy,
} from '@svc/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from './database.ts';
import { allowLongPauses } from './postgres-pool.ts';

const UNAVAILABLE = { code: 'DATABASE_UNAVAILABLE', status: 503 };

const title = 'connections to PostgreSQL';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const server = new URL(process.env[POSTGRES_URL_VARIABLE] ?? 'postgres://localhost');
  let proxy: CuttableProxy;
  let opened: Database<unknown>[] = [];
  const open = (hosts: readonly string[], parameters = ''): Database<unknown> => {
    const { username, password, pathname } = server;
    const url = `postgres://${username}:${password}@${hosts.join(',')}${pathname}${parameters}`;
    const database = openDatabase<unknown>({ url, maxConnections: 2, silenceMs: 100, connectTimeoutMs: 500 });
    opened.push(database);
    return database;
  };
  const throughProxy = (): string => `127.0.0.1:${proxy.port}`;
  const select = (database: Database<unknown>): Promise<unknown> => sql`select 1`.execute(database.kysely);
  const sleep = (database: Database<unknown>, seconds: number): Promise<unknown> =>
    sql`select pg_sleep(${seconds})`.execute(database.kysely);

  beforeEach(async () => {
    proxy = await startCuttableProxy({ host: server.hostname, port: Number(server.port) });
  });
  afterEach(async () => {
    for (const database of opened) await database.close();
    opened = [];
    await proxy.cut();
  });

  it('are opened to the next server of the URL if one refuses', async () => {
    await select(open([`127.0.0.1:${await freePort()}`, server.host]));
  });

  it('are opened to the next server of the URL if one does not answer', async () => {
    proxy.silence('all');
    await select(open([throughProxy(), server.host]));
  });

  it(
    'lose the locks of a transaction that pauses for seconds, unless it is allowed to',
    { timeout: 60_000 },
    async () => {
      const [hanging, patient, waiting] = [open([server.host]), open([server.host]), open([server.host])];
      const lock = sql`select pg_advisory_xact_lock(7001)`;
      const [locked, begun, released] = [0, 1, 2].map(() => Promise.withResolvers<void>());
      const hangs = hanging.kysely.transaction().execute(async (transaction) => {
        await lock.execute(transaction);
        locked?.resolve();
        await released?.promise;
        await lock.execute(transaction);
      });
      const waits = patient.kysely.transaction().execute(async (transaction) => {
        await allowLongPauses(transaction);
        begun?.resolve();
        await released?.promise;
        await sql`select 1`.execute(transaction);
      });
      await Promise.all([locked?.promise, begun?.promise]);
      await waiting.kysely.transaction().execute((transaction) => lock.execute(transaction));
      released?.resolve();
      await expect(hangs).rejects.toMatchObject(UNAVAILABLE);
      await waits;
      await select(hanging);
    },
  );

  it('move to another server after a loss, and back', async () => {
    const other = await startCuttableProxy({ host: server.hostname, port: Number(server.port) });
    const database = open([throughProxy(), `127.0.0.1:${other.port}`]);
    await select(database);
    expect(other.connections).toBe(0);
    await proxy.cut();
    await select(database).catch(() => undefined); // the pool may hand out the lost connection once
    await select(database);
    expect(other.connections).toBeGreaterThan(0);
    await other.cut();
    await proxy.restore();
    await select(database).catch(() => undefined);
    await select(database);
    expect(proxy.connections).toBeGreaterThan(0);
  });

  it('are not tried elsewhere with a password that one server refused', async () => {
    const url = `postgres://${server.username}:wrong@${server.host},${throughProxy()}${server.pathname}`;
    const database = openDatabase<unknown>({ url });
    opened.push(database);
    await expect(select(database)).rejects.toMatchObject({ code: '28P01' });
    expect(proxy.connections).toBe(0);
  });

  it('are refused to a session that cannot write, unless any is wanted', async () => {
    const readOnly = 'options=-c%20default_transaction_read_only%3Don';
    await expect(select(open([server.host], `?target_session_attrs=read-write&${readOnly}`))).rejects.toMatchObject({
      ...UNAVAILABLE,
      cause: { code: 'DATABASE_NOT_PRIMARY' },
    });
    await select(open([server.host], `?target_session_attrs=primary&${readOnly}`));
    await select(open([server.host], `?target_session_attrs=any&${readOnly}`));
  });

  it('are given up after a write to a server that became a standby', async () => {
    const database = open([server.host], '?options=-c%20default_transaction_read_only%3Don');
    const write = sql`create table anything (id integer)`.execute(database.kysely);
    await expect(write).rejects.toMatchObject(UNAVAILABLE);
  });

  it('fail what waits when the network drops every packet', async () => {
    const database = open([throughProxy()]);
    await select(database);
    proxy.silence('all');
    await expect(sleep(database, 0)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('fail what waits when only their own packets are dropped', async () => {
    const database = open([throughProxy()]);
    await select(database);
    proxy.silence('open');
    await expect(sleep(database, 0)).rejects.toMatchObject(UNAVAILABLE);
    await select(database);
  });

  it('wait for a statement that runs for long, however silent it is', async () => {
    await sleep(open([throughProxy()]), 2);
  });

  it('pipelined ones fail too, and wait for long statements too', async () => {
    const { pipelines } = open([throughProxy()]);
    const run = (text: string): Promise<unknown> | undefined => pipelines?.use((pipeline) => pipeline.query(text));
    await run('select pg_sleep(1)');
    proxy.silence('open');
    await expect(run('select 1')).rejects.toMatchObject(UNAVAILABLE);
  });
});
