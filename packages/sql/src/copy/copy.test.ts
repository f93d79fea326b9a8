import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  POSTGRES_URL_VARIABLE,
  postgresSource,
  requirement,
  skippedTitle,
  startCuttableProxy,
  temporaryFolder,
  type DatabaseSource,
  type TemporaryFolder,
} from '@svc/testing';
import { isAppError } from '@svc/errors';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../database.ts';
import { migrate } from '../migrate.ts';
import type { Migration } from '../migration.ts';
import { assertNotCopied } from './copy-progress.ts';
import { copyToPostgres } from './copy-to-postgres.ts';
import { copyToSqlite } from './copy-to-sqlite.ts';

/** Every kind of column, a key of several columns, a table that refers to itself, and counted keys. */
const migrations: Migration[] = [
  {
    name: '0001-shapes',
    target: 'platform',
    up: async (kysely, dialect) => {
      const isSqlite = dialect === 'sqlite';
      await kysely.schema
        .createTable('person')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('parent_id', 'text', (column) => column.references('person.id').onDelete('cascade'))
        .execute();
      await kysely.schema
        .createTable('letter')
        .addColumn('owner_id', 'text', (column) => column.notNull().references('person.id'))
        .addColumn('number', 'bigint', (column) => column.notNull())
        .addColumn('is_read', 'integer', (column) => column.notNull())
        .addColumn('weight', 'double precision')
        .addColumn('body', isSqlite ? 'blob' : 'bytea')
        .addPrimaryKeyConstraint('letter_key', ['owner_id', 'number'])
        .execute();
      await kysely.schema
        .createTable('entry')
        .addColumn('sequence', isSqlite ? 'integer' : 'bigserial', (column) =>
          isSqlite ? column.primaryKey().autoIncrement() : column.primaryKey(),
        )
        .addColumn('text', 'text')
        .execute();
      await kysely.schema
        .createTable('database_copy')
        .addColumn('table_name', 'text', (column) => column.primaryKey())
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('position', 'text')
        .addColumn('finished', 'integer', (column) => column.notNull())
        .addColumn('foreign_keys', 'text', (column) => column.notNull())
        .execute();
    },
  },
];

const LETTERS = 2_500;

async function makeFile(path: string): Promise<void> {
  const database = openDatabase<unknown>({ file: path });
  await migrate(database, migrations);
  await database.close();
}

function fill(path: string): void {
  const file = new DatabaseSync(path);
  file.exec('begin');
  // The child sorts before its parent.
  file.exec(`pragma defer_foreign_keys = on`);
  file.exec(`insert into person values ('a-child', 'z-parent'), ('z-parent', null), ('é\u{1F600}', null)`);
  const insert = file.prepare('insert into letter values (?, ?, ?, ?, ?)');
  for (let number = 0; number < LETTERS; number += 1) {
    const body = number % 3 === 0 ? null : Buffer.from([0, 255, number % 256, 92]);
    insert.run('a-child', number - 10, number % 2, number / 7, body);
  }
  insert.run('z-parent', 2 ** 52, 1, -0.1, Buffer.alloc(0));
  file.exec(`insert into entry (text) values ('NULL'), (null), ('back\\slash "quoted", {list}')`);
  file.exec(`delete from entry where sequence = 3`);
  file.exec('commit');
  file.close();
}

const title = 'a copy between SQLite and PostgreSQL';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let folder: TemporaryFolder;
  let source: DatabaseSource;
  let target: Database<unknown>;
  let file: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    source = await postgresSource(process.env[POSTGRES_URL_VARIABLE] ?? '', migrations);
    target = await source.open();
    file = join(folder.path, 'full.db');
    await makeFile(file);
    fill(file);
  });
  afterEach(async () => {
    await target.close();
    await source.close();
    await folder.remove();
  });

  const copy = (to = target, name = 'one') => copyToPostgres({ files: [file], target: to, source: name });
  const urlThrough = (port: number): string => {
    const url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    url.pathname = new URL(target.location ?? '').pathname;
    url.port = String(port);
    return url.href;
  };
  const rowsOf = (path: string, table: string): unknown[] => {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return database
        .prepare(`select * from ${table} order by 1, 2`)
        .all()
        .map((row) => ({ ...row }));
    } finally {
      database.close();
    }
  };

  it('keeps every value in both directions', async () => {
    const copied = await copy();
    expect(copied.map(({ table, rows }) => [table, rows])).toEqual([
      ['entry', 2],
      ['letter', LETTERS + 1],
      ['person', 3],
    ]);
    const back = join(folder.path, 'back.db');
    await makeFile(back);
    expect(await copyToSqlite(target, [back])).toEqual(copied);
    for (const table of ['person', 'letter', 'entry']) expect(rowsOf(back, table)).toEqual(rowsOf(file, table));
    expect(rowsOf(back, 'sqlite_sequence')).toEqual([{ name: 'entry', seq: 3 }]);
  });

  it('continues the numbers that rows had, and checks references again', async () => {
    await copy();
    const { rows } = await sql<{
      sequence: number;
    }>`insert into entry (text) values ('next') returning sequence`.execute(target.kysely);
    expect(rows).toEqual([{ sequence: 4 }]);
    expect(await copy()).toEqual([]);
    await expect(sql`insert into person values ('x', 'unknown')`.execute(target.kysely)).rejects.toThrow('foreign key');
    await sql`delete from letter`.execute(target.kysely);
    await sql`delete from person where id = 'z-parent'`.execute(target.kysely);
    expect((await sql`select id from person`.execute(target.kysely)).rows).toHaveLength(1);
    await assertNotCopied(target);
  });

  it('continues after an interruption at any moment, and is refused as a database until then', async () => {
    const server = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    let left = 3_000;
    let interruptions = 0;
    let isWhole = false;
    await using proxy = await startCuttableProxy({
      host: server.hostname,
      port: Number(server.port),
      onClientData: (bytes) => {
        left -= bytes.length;
        return left < 0 ? 'cut' : 'pass';
      },
    });
    for (let allowed = 3_000; interruptions < 200; allowed += 4_000) {
      left = allowed;
      const through = openDatabase<unknown>({ url: urlThrough(proxy.port), maxConnections: 1 });
      const outcome = await copy(through).catch((error: unknown) => error);
      await through.close();
      if (Array.isArray(outcome)) break;
      interruptions += 1;
      const code = await assertNotCopied(target).then(
        () => null,
        (error: unknown) => (isAppError(error) ? error.code : error),
      );
      if (code === null && interruptions > 3) isWhole = true; // the end was interrupted after its commit
      else if (interruptions > 3) expect(code).toBe('DATABASE_COPY_UNFINISHED');
    }
    if (isWhole) expect(await copy()).toEqual([]);
    expect(interruptions).toBeGreaterThan(5);
    await assertNotCopied(target);
    const { rows } = await sql<{ count: number }>`select count(*) as count from letter`.execute(target.kysely);
    expect(rows).toEqual([{ count: LETTERS + 1 }]);
  });

  it('refuses a database with rows, and one that another copy has begun', async () => {
    await sql`insert into entry (text) values ('there')`.execute(target.kysely);
    await expect(copy()).rejects.toMatchObject({
      code: 'COPY_TARGET_NOT_EMPTY',
      message: expect.stringContaining('entry'),
    });
    await sql`delete from entry`.execute(target.kysely);
    const stopped = copyToPostgres({
      files: [file],
      target,
      source: 'one',
      beforeFinish: () => Promise.reject(new Error('stopped')),
    });
    await expect(stopped).rejects.toThrow('stopped');
    await expect(copy(target, 'two')).rejects.toMatchObject({ code: 'COPY_OTHER_SOURCE' });
    await copy();
  });

  it('reports a row that differs after the copy, and stays unfinished', async () => {
    const stopped = copyToPostgres({
      files: [file],
      target,
      source: 'one',
      beforeFinish: () => Promise.reject(new Error('stopped')),
    });
    await expect(stopped).rejects.toThrow('stopped');
    await sql`update letter set weight = weight + 1 where number = 5`.execute(target.kysely);
    await expect(copy()).rejects.toMatchObject({ code: 'COPY_DIFFERS', message: expect.stringContaining('letter') });
    await expect(assertNotCopied(target)).rejects.toMatchObject({ code: 'DATABASE_COPY_UNFINISHED' });
  });

  it('names the table of a value that PostgreSQL cannot store', async () => {
    const database = new DatabaseSync(file);
    database.exec(`insert into entry (text) values ('a' || char(0) || 'b')`);
    database.close();
    await expect(copy()).rejects.toMatchObject({ code: 'COPY_FAILED', message: expect.stringContaining('entry') });
  });

  it('refuses tables that differ', async () => {
    const database = new DatabaseSync(file);
    database.exec(`alter table entry add column further text`);
    database.close();
    await expect(copy()).rejects.toMatchObject({ code: 'COPY_LAYOUT', message: expect.stringContaining('further') });
  });
});
