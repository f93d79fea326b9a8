import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeDialects, freePort, temporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { databaseTime, openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { type Migration } from './migration.ts';

interface Tables {
  item: { id: string; size_bytes: number | bigint; is_public: number | boolean };
}

const items: Migration = {
  name: '0001-item',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('item')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('is_public', 'integer', (column) => column.notNull())
      .execute();
  },
};

describeDialects<Tables>('a database', [items], (database) => {
  const insert = (item: Tables['item']) => database().kysely.insertInto('item').values(item).execute();

  it('reads 64-bit counters and their sums as numbers', async () => {
    await insert({ id: 'a', size_bytes: 2 ** 52, is_public: 0 });
    await insert({ id: 'b', size_bytes: 1, is_public: 0 });
    const { kysely } = database();
    expect(await kysely.selectFrom('item').select('size_bytes').orderBy('id').execute()).toEqual([
      { size_bytes: 2 ** 52 },
      { size_bytes: 1 },
    ]);
    const totals = await kysely
      .selectFrom('item')
      .select(({ fn }) => [fn.sum('size_bytes').as('bytes'), fn.countAll().as('count')])
      .executeTakeFirst();
    expect(totals).toEqual({ bytes: 2 ** 52 + 1, count: 2 });
  });

  it('refuses to read a number that JavaScript cannot represent exactly', async () => {
    await insert({ id: 'a', size_bytes: 2n ** 60n + 1n, is_public: 0 });
    await expect(database().kysely.selectFrom('item').select('size_bytes').execute()).rejects.toThrow(/too large/i);
  });

  it('writes a flag as 0 or 1, given as a number or a boolean', async () => {
    await insert({ id: 'a', size_bytes: 0, is_public: true });
    await insert({ id: 'b', size_bytes: 0, is_public: false });
    await insert({ id: 'c', size_bytes: 0, is_public: 1 });
    const rows = await database().kysely.selectFrom('item').select('is_public').orderBy('id').execute();
    expect(rows.map((row) => row.is_public)).toEqual([1, 0, 1]);
    const found = await database().kysely.selectFrom('item').select('id').where('is_public', '=', true).execute();
    expect(found.map((row) => row.id).toSorted()).toEqual(['a', 'c']);
  });

  it('rolls back a transaction that throws, and rethrows the error', async () => {
    const failing = database()
      .kysely.transaction()
      .execute(async (transaction) => {
        await transaction.insertInto('item').values({ id: 'a', size_bytes: 0, is_public: 0 }).execute();
        throw new Error('changed my mind');
      });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await database().kysely.selectFrom('item').selectAll().execute()).toEqual([]);
  });

  it('never runs an outside query inside a running transaction', async () => {
    const { kysely } = database();
    let outside: Promise<unknown> | undefined;
    await expect(
      kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('item').values({ id: 'inside', size_bytes: 0, is_public: 0 }).execute();
        outside = kysely.insertInto('item').values({ id: 'outside', size_bytes: 0, is_public: 0 }).execute();
        await Promise.resolve();
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await outside;
    const rows = await kysely.selectFrom('item').select('id').execute();
    expect(rows).toEqual([{ id: 'outside' }]);
  });
});

describeDialects<unknown>('the time of a database', [], (database, dialect) => {
  const read = async (...offsetsMs: number[]): Promise<string[]> => {
    const times = offsetsMs.map((offsetMs, index) => databaseTime(dialect, offsetMs).as(`t${index}`));
    const { rows } = await sql<Record<string, string>>`select ${sql.join(times)}`.execute(database().kysely);
    return Object.values(rows[0] ?? {});
  };

  it('is ISO 8601 in UTC with milliseconds, so that its text sorts by time', async () => {
    const [now = ''] = await read(0);
    expect(new Date(now).toISOString()).toBe(now);
  });

  it('adds and subtracts an offset', async () => {
    const [earlier = '', now = '', later = ''] = await read(-1_500, 0, 10_000);
    const apart = (left: string, right: string) => Date.parse(right) - Date.parse(left);
    // SQLite reads one time per statement, PostgreSQL one per call.
    expect(Math.round(apart(earlier, now) / 500)).toBe(3);
    expect(Math.round(apart(now, later) / 500)).toBe(20);
  });
});

describe('a SQLite file', () => {
  it('leaves syncing to the dialect, enforces foreign keys and waits for other writers', async () => {
    await using folder = await temporaryFolder();
    const database = openDatabase({ file: join(folder.path, 'a.sqlite') });
    const read = async (pragma: string) =>
      Object.values((await sql.raw(pragma).execute(database.kysely)).rows[0] ?? {});
    expect(await read('pragma journal_mode')).toEqual(['wal']);
    expect(await read('pragma synchronous')).toEqual([1]);
    expect(await read('pragma foreign_keys')).toEqual([1]);
    expect(await read('pragma busy_timeout')).toEqual([5000]);
    await database.close();
  });

  it('can be closed without any query, and again without effect', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    const database = openDatabase({ file });
    await database.close();
    await database.close();
    const exclusive = new DatabaseSync(file);
    exclusive.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    exclusive.close();
  });

  it('is rejected in one line if damaged', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    await writeFile(file, 'not a database at all'.repeat(500));
    expect(() => openDatabase({ file })).toThrow(
      expect.objectContaining({ code: 'DATABASE_DAMAGED', message: expect.stringContaining(file) }),
    );
  });

  it('is rejected in one line if truncated', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    const whole = openDatabase<Tables>({ file });
    await migrate(whole, [items]);
    await whole.close();
    await writeFile(file, (await readFile(file)).subarray(0, 4096 + 512));
    const open = async () => migrate(openDatabase<unknown>({ file }), [items]);
    await expect(open()).rejects.toMatchObject({ code: 'DATABASE_DAMAGED' });
  });

  it('is rejected in one line if read-only', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    const database = openDatabase<unknown>({ file });
    // SQLite's error for a read-only file system; file permissions would not stop root.
    await sql`pragma query_only = 1`.execute(database.kysely);
    await expect(migrate(database, [items])).rejects.toMatchObject({
      code: 'DATABASE_READ_ONLY',
      details: { location: file },
    });
    await database.close();
  });

  it('is rejected in one line if it is a folder or its folder is missing', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'a.sqlite'));
    await chmod(join(folder.path, 'a.sqlite'), 0o700);
    for (const file of [join(folder.path, 'a.sqlite'), join(folder.path, 'absent', 'a.sqlite')]) {
      expect(() => openDatabase({ file })).toThrow(expect.objectContaining({ code: 'DATABASE_NOT_FOUND' }));
    }
  });

  it('is not changed when rejected for a newer schema', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    const newer = openDatabase<unknown>({ file });
    await migrate(newer, [items, { ...items, name: '0002-later', contractsAfter: '0002-later', up: async () => {} }]);
    await newer.close();
    const before = await digest(file);
    const older = openDatabase<unknown>({ file });
    await expect(migrate(older, [items])).rejects.toMatchObject({
      code: 'SCHEMA_NEWER',
      details: { name: '0002-later' },
    });
    await older.close();
    expect(await digest(file)).toBe(before);
  });

  it('must be named, so that nothing lands in memory by mistake', () => {
    expect(() => openDatabase({})).toThrow(expect.objectContaining({ code: 'DATABASE_NOT_NAMED' }));
  });
});

describe('a PostgreSQL server', () => {
  it('is reported in one line without the password if unreachable', async () => {
    const port = await freePort();
    const database = openDatabase<unknown>({ url: `postgres://svc:hunter2@127.0.0.1:${port}/svc` });
    const refusal = migrate(database, [items]);
    await expect(refusal).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', status: 503 });
    await expect(refusal).rejects.not.toThrow(/hunter2/);
    await database.close();
  });

  it('is reported in one line if it hangs up', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const database = openDatabase<unknown>({ url: `postgres://svc@127.0.0.1:${port}/svc` });
    await expect(migrate(database, [items])).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' });
    await database.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

async function digest(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
