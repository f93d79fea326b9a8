import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '@svc/testing';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogSync, SharedSync } from './log-sync.ts';
import { openSqliteFile, sqliteDialect } from './sqlite-dialect.ts';
import { SqliteEvents } from './sqlite-events.ts';

/** A log whose syncs end when told. */
function heldLog() {
  const syncs: PromiseWithResolvers<void>[] = [];
  const state = { opened: 0, closed: 0 };
  const log = new SharedSync(async () => {
    state.opened += 1;
    return {
      sync: () => {
        const sync = Promise.withResolvers<void>();
        syncs.push(sync);
        return sync.promise;
      },
      close: async () => void (state.closed += 1),
    };
  });
  return { log, syncs, state };
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise.then(() => 'settled'), new Promise((resolve) => setImmediate(resolve, 'waiting'))])) ===
  'settled';

describe('a shared sync', () => {
  it('starts another sync for callers that come while one runs, and only one for all of them', async () => {
    const { log, syncs, state } = heldLog();
    const first = log.sync();
    await expect.poll(() => syncs.length).toBe(1);
    const others = [log.sync(), log.sync()];
    expect(await isSettled(others[0] ?? first)).toBe(false);
    syncs[0]?.resolve();
    await first;
    await expect.poll(() => syncs.length).toBe(2);
    expect(await isSettled(Promise.all(others))).toBe(false);
    syncs[1]?.resolve();
    await Promise.all(others);
    expect(syncs).toHaveLength(2);
    expect(state.opened).toBe(1);
  });

  it('fails for good after a failed sync, since the kernel may have dropped the writes', async () => {
    const { log, syncs } = heldLog();
    const first = log.sync();
    await expect.poll(() => syncs.length).toBe(1);
    const second = log.sync();
    syncs[0]?.reject(new Error('EIO'));
    await expect(first).rejects.toThrow('EIO');
    await expect(second).rejects.toThrow('EIO');
    await expect(log.sync()).rejects.toThrow('EIO');
    expect(syncs).toHaveLength(1);
  });

  it('waits for its last sync before it closes the log', async () => {
    const { log, syncs, state } = heldLog();
    const sync = log.sync();
    await expect.poll(() => syncs.length).toBe(1);
    const closed = log.close();
    expect(await isSettled(closed)).toBe(false);
    syncs[0]?.resolve();
    await Promise.all([sync, closed]);
    expect(state.closed).toBe(1);
  });
});

describe('a commit to SQLite', () => {
  let database: DatabaseSync;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let kysely: Kysely<{ item: { id: number } }>;
  let held: ReturnType<typeof heldLog>;
  let events: SqliteEvents;

  beforeEach(async () => {
    folder = await temporaryFolder();
    database = openSqliteFile(join(folder.path, 'a.sqlite'));
    database.exec('create table item (id integer primary key)');
    held = heldLog();
    events = new SqliteEvents(database, () => undefined);
    kysely = new Kysely({ dialect: sqliteDialect({ database, events, log: held.log }) });
  });
  afterEach(async () => {
    database.close();
    await folder[Symbol.asyncDispose]();
  });

  const insert = (id: number) => kysely.insertInto('item').values({ id }).execute();
  const count = async () => (await kysely.selectFrom('item').select('id').execute()).length;

  it('returns after the sync of the log, while others read and commit', async () => {
    const first = insert(1);
    await expect.poll(() => held.syncs.length).toBe(1);
    expect(await count()).toBe(1);
    const second = kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto('item').values({ id: 2 }).execute();
      await transaction.insertInto('item').values({ id: 3 }).execute();
    });
    await expect.poll(count).toBe(3);
    expect(await isSettled(first)).toBe(false);
    expect(held.syncs).toHaveLength(1);
    held.syncs[0]?.resolve();
    await first;
    expect(await isSettled(second)).toBe(false);
    await expect.poll(() => held.syncs.length).toBe(2);
    held.syncs[1]?.resolve();
    await second;
  });

  it('fails if the log cannot be synced', async () => {
    const first = insert(1);
    await expect.poll(() => held.syncs.length).toBe(1);
    held.syncs[0]?.reject(new Error('EIO'));
    await expect(first).rejects.toThrow('EIO');
    await expect(insert(2)).rejects.toThrow('EIO');
  });

  it('is not synced if it only read or was rolled back', async () => {
    await count();
    await kysely.transaction().execute(async (transaction) => {
      await transaction.selectFrom('item').select('id').execute();
    });
    const undone = kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto('item').values({ id: 1 }).execute();
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(await count()).toBe(0);
    expect(held.syncs).toHaveLength(0);
  });

  it('delivers its events after the sync, even if another transaction is rolled back meanwhile', async () => {
    const seen: string[] = [];
    events.subscribe('items', { onEvent: (id) => void seen.push(id), onMissed: () => undefined });
    const published = kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto('item').values({ id: 1 }).execute();
      await sql`select pg_notify('items', '1')`.execute(transaction);
    });
    await expect.poll(() => held.syncs.length).toBe(1);
    const undone = kysely.transaction().execute(async (transaction) => {
      await sql`select pg_notify('items', '2')`.execute(transaction);
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(seen).toEqual([]);
    held.syncs[0]?.resolve();
    await published;
    expect(seen).toEqual(['1']);
  });

  it('can sync a real log', async () => {
    const log = createLogSync(join(folder.path, 'a.sqlite'));
    database.exec('insert into item values (1)');
    await log.sync();
    await log.sync();
    await log.close();
  });
});
