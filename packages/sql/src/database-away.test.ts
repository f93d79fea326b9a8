import { POSTGRES_URL_VARIABLE, requirement, skippedTitle, startCuttableProxy, type CuttableProxy } from '@svc/testing';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseDatabaseFault } from './database-fault.ts';
import { openDatabase, type Database } from './database.ts';

const UNAVAILABLE = { code: 'DATABASE_UNAVAILABLE', status: 503, headers: { 'retry-after': '1' } };

const title = 'a PostgreSQL server that goes away';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let proxy: CuttableProxy;
  let database: Database<unknown>;
  let direct: Database<unknown>;

  beforeEach(async () => {
    const url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    proxy = await startCuttableProxy({ host: url.hostname, port: Number(url.port) });
    direct = openDatabase({ url: url.href, maxConnections: 1 });
    url.port = String(proxy.port);
    database = openDatabase({ url: url.href, maxConnections: 2 });
  });
  afterEach(async () => {
    await database.close();
    await direct.close();
    await proxy.cut();
  });

  const select = (): Promise<unknown> => sql`select 1 as one`.execute(database.kysely);
  const backend = async (): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.kysely);
    return rows[0]?.pid ?? 0;
  };
  const terminate = (pid: number): Promise<unknown> => sql`select pg_terminate_backend(${pid})`.execute(direct.kysely);
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it('fails the queries that wait on a cut connection and refuses new ones, with a retryable error', async () => {
    await select();
    const waiting = refusal(sql`select pg_sleep(30)`.execute(database.kysely));
    await select(); // the other connection: the first one is waiting
    await proxy.cut();
    expect(await waiting).toMatchObject(UNAVAILABLE);
    const refused = await refusal(select());
    expect(refused).toMatchObject(UNAVAILABLE);
    expect(parseDatabaseFault(refused)).toEqual({ kind: 'unavailable' });
  });

  it('connects again by itself', async () => {
    await select();
    await proxy.cut();
    expect(await refusal(select())).toMatchObject(UNAVAILABLE);
    await proxy.restore();
    await select();
  });

  it('survives the end of a connection between two statements of a transaction', async () => {
    const work = database.kysely.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
      await terminate(rows[0]?.pid ?? 0);
      await sql`select 1`.execute(transaction);
    });
    expect(await refusal(work)).toMatchObject(UNAVAILABLE);
    await select();
  });

  it('survives the end of an idle connection', async () => {
    await terminate(await backend());
    // The pool may hand out the connection before it learns of its end.
    await refusal(select());
    await select();
  });

  it('reports a pool without a free connection in time as unavailable', async () => {
    const url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    const small = openDatabase<unknown>({ url: url.href, maxConnections: 1, acquireTimeoutMs: 1000 });
    await small.kysely.connection().execute(async (held) => {
      await sql`select 1`.execute(held);
      expect(await refusal(sql`select 1`.execute(small.kysely))).toMatchObject(UNAVAILABLE);
    });
    await small.close();
  });

  it('leaves errors of a statement alone', async () => {
    const error = await refusal(sql`select no_such_column`.execute(database.kysely));
    expect(parseDatabaseFault(error)).toBeNull();
    expect(error).not.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
});
