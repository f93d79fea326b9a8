import { DatabaseSync } from 'node:sqlite';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database.ts';
import { assertEqual, readSequences, type CopiedTable } from './copy-to-postgres.ts';
import { inSnapshot, readPostgresRows } from './postgres-rows.ts';
import { RowDigest } from './row-digest.ts';
import { advanceSqliteSequence, createSqliteInsert, digestSqliteTable } from './sqlite-rows.ts';
import { assertPostgresLayout, readSqliteLayout, type TableLayout } from './table-layout.ts';

/**
 * Copies all rows of a PostgreSQL database into empty, migrated SQLite files, in one snapshot: the files are the database
 * at one moment, whatever is written meanwhile. Nothing else may have the files open. They are not synced.
 */
export async function copyToSqlite(source: Database<unknown>, files: readonly string[]): Promise<CopiedTable[]> {
  const copied = await inSnapshot(source.kysely, async (snapshot) => {
    const filled: CopiedTable[][] = [];
    for (const file of files) filled.push(await fillFile(snapshot, file));
    return filled;
  });
  for (const [index, tables] of copied.entries()) await verifyFile(files[index] ?? '', tables);
  return copied.flat();
}

async function fillFile(snapshot: Transaction<unknown>, path: string): Promise<CopiedTable[]> {
  const file = new DatabaseSync(path);
  try {
    // Rows may come before those that they refer to. The result is one file, without a log beside it.
    file.exec('pragma journal_mode = delete; pragma synchronous = off; pragma foreign_keys = off');
    const tables = readSqliteLayout(file);
    await assertPostgresLayout(snapshot, tables);
    file.exec('begin');
    const copied: CopiedTable[] = [];
    for (const table of tables) copied.push(await copyTable(snapshot, file, table));
    file.exec('commit');
    return copied;
  } finally {
    file.close();
  }
}

async function verifyFile(path: string, copied: readonly CopiedTable[]): Promise<void> {
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = readSqliteLayout(file);
    for (const [index, expected] of copied.entries()) {
      const table = tables[index];
      if (table !== undefined) assertEqual(expected, await digestSqliteTable(file, table));
    }
  } finally {
    file.close();
  }
}

async function copyTable(snapshot: Transaction<unknown>, file: DatabaseSync, table: TableLayout): Promise<CopiedTable> {
  const insert = createSqliteInsert(file, table);
  const digest = new RowDigest(table);
  for await (const rows of readPostgresRows(snapshot, table)) {
    for (const row of rows) {
      insert(row);
      digest.add(row);
    }
  }
  for (const { sequence } of await readSequences(snapshot, table.name)) {
    const { rows } = await sql<{ last: number }>`
      select case when is_called then last_value else 0 end as last from ${sql.raw(sequence)}`.execute(snapshot);
    advanceSqliteSequence(file, table.name, rows[0]?.last ?? 0);
  }
  return { table: table.name, ...digest.result() };
}
