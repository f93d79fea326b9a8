import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { requirement, skippedTitle, temporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import pg from 'pg';
import { expect, it } from 'vitest';
import { openDatabase, type DatabaseLocation } from './database.ts';

/** Twenty tables, so that the processes meet in the middle of their work. */
const PROGRAM = `
  const { openDatabase } = await import(process.argv[1]);
  const { migrate } = await import(process.argv[2]);
  const migrations = Array.from({ length: 20 }, (_, index) => ({
    name: String(index).padStart(4, '0') + '-table',
    target: 'platform',
    up: async (kysely) => {
      await kysely.schema.createTable('table_' + index).addColumn('id', 'text').execute();
    },
  }));
  const database = openDatabase(JSON.parse(process.argv[3]));
  const ran = await migrate(database, migrations);
  await database.close();
  process.stdout.write(JSON.stringify(ran));
`;

async function migrateInChild(location: DatabaseLocation): Promise<string[]> {
  const modules = ['./database.ts', './migrate.ts'].map((path) => new URL(path, import.meta.url).href);
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...modules, JSON.stringify(location)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'exit'),
  ]);
  expect({ code, errors: errors.join('') }).toEqual({ code: 0, errors: '' });
  return JSON.parse(output.join('')) as string[]; // written by the program above
}

async function expectEachOnce(location: DatabaseLocation): Promise<void> {
  const ran = await Promise.all(Array.from({ length: 3 }, () => migrateInChild(location)));
  expect(ran.flat()).toHaveLength(20);
  expect(new Set(ran.flat()).size).toBe(20);
  const database = openDatabase<{ schema_migration: { name: string } }>(location);
  const rows = await database.kysely.selectFrom('schema_migration').select('name').execute();
  await database.close();
  expect(rows).toHaveLength(20);
}

it('lets three processes migrate one SQLite file at once, running each migration once without errors', async () => {
  await using folder = await temporaryFolder();
  await expectEachOnce({ file: join(folder.path, 'shared.sqlite') });
});

const missing = requirement('postgres');
const title = 'lets three processes migrate one PostgreSQL database at once: each migration runs once, nobody fails';
it.skipIf(missing !== null)(missing === null ? title : skippedTitle(title, missing), async () => {
  const url = new URL(process.env['SVC_TEST_POSTGRES_URL'] ?? '');
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  const administrator = new pg.Client({ connectionString: url.href });
  await administrator.connect();
  await administrator.query(`create database ${name}`);
  try {
    url.pathname = `/${name}`;
    await expectEachOnce({ url: url.href });
  } finally {
    await administrator.query(`drop database if exists ${name} with (force)`);
    await administrator.end();
  }
});

it('waits for another writing process instead of failing at its first write', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'shared.sqlite');
  const database = openDatabase<{ note: { id: number } }>({ file });
  await sql`create table note (id integer)`.execute(database.kysely);
  // Reads, then writes: with a plain \`begin\`, the write fails immediately if the other process wrote in between.
  const program = `
    const { openDatabase } = await import(process.argv[1]);
    const database = openDatabase({ file: process.argv[2] });
    for (let round = 0; round < 200; round += 1) {
      await database.kysely.transaction().execute(async (transaction) => {
        const rows = await transaction.selectFrom('note').selectAll().execute();
        await transaction.insertInto('note').values({ id: rows.length }).execute();
      });
    }
    await database.close();
  `;
  const module = new URL('./database.ts', import.meta.url).href;
  const children = [0, 1].map(() =>
    spawn(process.execPath, ['--input-type=module', '-e', program, module, file], { stdio: 'inherit' }),
  );
  const codes = await Promise.all(children.map((child) => once(child, 'exit').then(([code]) => code as number)));
  expect(codes).toEqual([0, 0]);
  const ids = await database.kysely.selectFrom('note').select('id').orderBy('id').execute();
  expect(ids.map((row) => row.id)).toEqual(Array.from({ length: 400 }, (_, index) => index));
  await database.close();
});
