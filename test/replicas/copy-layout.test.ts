import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { copyToPostgres, migrate, openDatabase } from '@svc/sql';
import { POSTGRES_URL_VARIABLE, postgresSource, requirement, skippedTitle, temporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';

const title = 'every table of the migrations can be copied from SQLite to PostgreSQL';
const reason = requirement('postgres');
it.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), async () => {
  await using folder = await temporaryFolder();
  const files: string[] = [];
  for (const target of ['platform', 'objects'] as const) {
    const file = join(folder.path, `${target}.db`);
    const database = openDatabase<unknown>({ file });
    await migrate(
      database,
      migrations.filter((migration) => migration.target === target),
    );
    await database.close();
    files.push(file);
  }
  await using source = await postgresSource(process.env[POSTGRES_URL_VARIABLE] ?? '', migrations);
  const target = await source.open<unknown>();
  const foreignKeys = async (): Promise<unknown> =>
    (
      await sql`select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
        from pg_constraint where contype = 'f' order by 1, 2`.execute(target.kysely)
    ).rows;
  const before = await foreignKeys();
  const copied = (await copyToPostgres({ files, target, source: 'empty' })).map(({ table }) => table);
  expect(await foreignKeys()).toEqual(before);
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = current_schema() order by 1`.execute(target.kysely);
  const own = new Set(['database_copy', 'schema_migration']);
  expect(copied.toSorted()).toEqual(rows.map(({ name }) => name).filter((name) => !own.has(name)));
  await target.close();
});
