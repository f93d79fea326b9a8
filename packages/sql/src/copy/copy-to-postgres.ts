import { DatabaseSync } from 'node:sqlite';
import { isAppError } from '@svc/errors';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../database.ts';
import { sqlErrors } from '../errors.ts';
import { isUnavailable } from '../postgres-errors.ts';
import { beginCopy, finishCopy, readProgress, writeProgress } from './copy-progress.ts';
import { batchSize, digestPostgresTable, insertPostgresRows, inSnapshot } from './postgres-rows.ts';
import type { TableDigest } from './row-digest.ts';
import { digestSqliteTable, readSqliteRows, readSqliteSequence } from './sqlite-rows.ts';
import { assertPostgresLayout, readSqliteLayout, type Row, type TableLayout } from './table-layout.ts';

/** What a copy wrote and verified. */
export interface CopiedTable extends TableDigest {
  readonly table: string;
}

/** A copy from SQLite files into a PostgreSQL database. */
export interface CopyToPostgres {
  /** Files that nothing writes to. Together they have all tables, each once. */
  readonly files: readonly string[];
  /** Migrated to the same schema. */
  readonly target: Database<unknown>;
  /** Identifies the content of the files: an interrupted copy continues only from the same source. */
  readonly source: string;
  /** Called when everything is copied and verified, before the target may be used. */
  readonly beforeFinish?: () => Promise<void>;
}

interface SourceTable {
  readonly layout: TableLayout;
  readonly file: DatabaseSync;
}

/**
 * Copies all rows, then reads both databases once more and compares counts and checksums of each table. Batches are
 * committed with their position: after a kill -9, the next call continues there. Until the end, `assertNotCopied` refuses
 * the target. Refuses a target with rows. Returns an empty list if an earlier call from this source has done everything.
 */
export async function copyToPostgres(copy: CopyToPostgres): Promise<CopiedTable[]> {
  const { target, source } = copy;
  const files = copy.files.map((file) => new DatabaseSync(file, { readOnly: true }));
  try {
    const tables = files.flatMap((file) => readSqliteLayout(file).map((layout) => ({ layout, file })));
    const layouts = tables.map(({ layout }) => layout);
    await assertPostgresLayout(target.kysely, layouts);
    if (!(await beginCopy(target, source, layouts))) return [];
    for (const table of tables) await explaining(table.layout.name, () => copyTable(target, table));
    const copied = await verify(target, tables);
    await copy.beforeFinish?.();
    await target.kysely.transaction().execute(async (transaction) => {
      for (const table of tables) await advanceSequences(transaction, table);
      await finishCopy(transaction, source);
    });
    await sql`analyze`.execute(target.kysely);
    return copied;
  } finally {
    for (const file of files) file.close();
  }
}

async function copyTable({ kysely }: Database<unknown>, { layout, file }: SourceTable): Promise<void> {
  const { position, isFinished } = await readProgress(kysely, layout.name);
  if (isFinished) return;
  let batch: Row[] = [];
  const write = async (isLast: boolean): Promise<void> => {
    const last = batch.at(-1);
    const reached = last === undefined ? position : layout.key.map((name) => last[name] ?? null);
    const rows = batch;
    batch = [];
    await kysely.transaction().execute(async (transaction) => {
      if (rows.length > 0) await insertPostgresRows(transaction, layout, rows);
      await writeProgress(transaction, layout.name, { position: reached, isFinished: isLast });
    });
  };
  for (const row of readSqliteRows(file, layout, position)) {
    batch.push(row);
    if (batch.length >= batchSize(layout)) await write(false);
  }
  await write(true);
}

async function verify({ kysely }: Database<unknown>, tables: readonly SourceTable[]): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = [];
  for (const { layout, file } of tables) {
    copied.push({ table: layout.name, ...(await digestSqliteTable(file, layout)) });
  }
  await inSnapshot(kysely, async (snapshot) => {
    for (const [index, expected] of copied.entries()) {
      const layout = tables[index]?.layout;
      if (layout !== undefined) assertEqual(expected, await digestPostgresTable(snapshot, layout));
    }
  });
  return copied;
}

/** Throws COPY_DIFFERS. */
export function assertEqual(expected: CopiedTable, found: TableDigest): void {
  if (found.rows === expected.rows && found.checksum === expected.checksum) return;
  throw sqlErrors.COPY_DIFFERS({
    details: {
      table: expected.table,
      found: found.rows,
      found_checksum: found.checksum,
      expected: expected.rows,
      expected_checksum: expected.checksum,
    },
  });
}

/** New rows get numbers that no row has had. */
async function advanceSequences(transaction: Transaction<unknown>, { layout, file }: SourceTable): Promise<void> {
  for (const { column, sequence } of await readSequences(transaction, layout.name)) {
    const { rows } = await sql<{ last: number | null }>`
      select max(${sql.ref(column)}) as last from ${sql.table(layout.name)}`.execute(transaction);
    const last = Math.max(rows[0]?.last ?? 0, readSqliteSequence(file, layout.name));
    await sql`select setval(${sequence}::regclass, ${Math.max(last, 1)}, ${sql.lit(last > 0)})`.execute(transaction);
  }
}

/** The sequences that number a table's rows. */
export async function readSequences(
  transaction: Transaction<unknown>,
  table: string,
): Promise<readonly { column: string; sequence: string }[]> {
  const { rows } = await sql<{ column: string; sequence: string }>`
    select attname as column, pg_get_serial_sequence(${`"${table}"`}, attname) as sequence from pg_attribute
    where attrelid = to_regclass(${`"${table}"`}) and attnum > 0 and not attisdropped
      and pg_get_serial_sequence(${`"${table}"`}, attname) is not null`.execute(transaction);
  return rows;
}

/** Names the table; what the caller can handle stays as it is. */
async function explaining(table: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (isUnavailable(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (isAppError(cause) && cause.code !== 'INVALID_TEXT') throw cause;
    throw sqlErrors.COPY_FAILED({ details: { table, reason }, cause });
  }
}
