import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../database.ts';
import { sqlErrors } from '../errors.ts';
import { COPY_TABLE, type TableLayout, type Value } from './table-layout.ts';

interface CopyTables {
  database_copy: {
    table_name: string;
    source: string;
    position: string | null;
    finished: number;
    foreign_keys: string;
  };
}

interface ForeignKey {
  readonly name: string;
  readonly definition: string;
}

/** What is done of one table. */
interface TableProgress {
  readonly position: readonly Value[] | null;
  readonly isFinished: boolean;
}

/** The only row after the end of a copy: of a target that is whole, or of a SQLite file whose content was moved. */
const ALL_TABLES = '*';

/**
 * Throws DATABASE_COPY_UNFINISHED or DATABASE_MOVED if the database must not be used: it is incomplete, or another one
 * replaced it.
 */
export async function assertNotCopied({
  kysely,
  dialect,
  location = '',
}: Pick<Database<unknown>, 'kysely' | 'dialect' | 'location'>): Promise<void> {
  const rows = await tables(kysely).selectFrom(COPY_TABLE).select('table_name').execute();
  const isDone = rows.some((row) => row.table_name === ALL_TABLES);
  if (dialect === 'sqlite' && isDone) throw sqlErrors.DATABASE_MOVED({ details: { location } });
  if (rows.length > 0 && !isDone) throw sqlErrors.DATABASE_COPY_UNFINISHED({ details: { location } });
}

/** Records in a SQLite file that its content was moved, so that no platform starts on it. Repeatable. */
export async function markMoved(source: Pick<Database<unknown>, 'kysely'>): Promise<void> {
  await markDone(source.kysely, '');
}

async function markDone(within: Kysely<unknown>, source: string): Promise<void> {
  await tables(within)
    .insertInto(COPY_TABLE)
    .values({ table_name: ALL_TABLES, source, position: null, finished: 1, foreign_keys: '[]' })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Whether a copy into the database was begun; it may be finished. */
export function hasCopyBegun(database: Pick<Database<unknown>, 'kysely'>): Promise<boolean> {
  return hasRows(database, COPY_TABLE);
}

/** Whether a table has at least one row. */
export async function hasRows({ kysely }: Pick<Database<unknown>, 'kysely'>, table: string): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(kysely);
  return rows.length > 0;
}

/**
 * Begins a copy into an empty database, or continues an earlier one from the same source. Foreign keys are dropped until
 * the end: rows may arrive before those that they refer to. Returns false if everything is done: the process may have
 * ended before it could say so.
 */
export async function beginCopy(
  { kysely, location = '' }: Pick<Database<unknown>, 'kysely' | 'location'>,
  source: string,
  layouts: readonly TableLayout[],
): Promise<boolean> {
  // First without locks, which would disturb a platform that uses the database.
  if (!(await hasCopyBegun({ kysely }))) await assertEmpty(kysely, location, layouts);
  return await kysely.transaction().execute(async (transaction) => {
    const names = layouts.map(({ name }) => sql.table(name));
    await sql`lock table ${sql.join([sql.table(COPY_TABLE), ...names])} in access exclusive mode`.execute(transaction);
    const begun = await tables(transaction).selectFrom(COPY_TABLE).select(['table_name', 'source']).execute();
    const isDone = begun.some((row) => row.table_name === ALL_TABLES);
    if (begun.some((row) => row.source !== source)) {
      if (isDone) throw sqlErrors.COPY_TARGET_NOT_EMPTY({ details: { table: COPY_TABLE, location } });
      throw sqlErrors.COPY_OTHER_SOURCE({ details: { location } });
    }
    if (begun.length > 0) return !isDone;
    await assertEmpty(transaction, location, layouts);
    for (const { name } of layouts) {
      const keys = await dropForeignKeys(transaction, name);
      await tables(transaction)
        .insertInto(COPY_TABLE)
        .values({ table_name: name, source, position: null, finished: 0, foreign_keys: JSON.stringify(keys) })
        .execute();
    }
    return true;
  });
}

/** Reads what is done of a table. The copy has begun. */
export async function readProgress(kysely: Kysely<unknown>, table: string): Promise<TableProgress> {
  const row = await tables(kysely)
    .selectFrom(COPY_TABLE)
    .select(['position', 'finished'])
    .where('table_name', '=', table)
    .executeTakeFirstOrThrow();
  // Written by `writeProgress`.
  return {
    position: row.position === null ? null : (JSON.parse(row.position) as Value[]),
    isFinished: row.finished === 1,
  };
}

/** Call it in the transaction that writes the rows. */
export async function writeProgress(within: Kysely<unknown>, table: string, progress: TableProgress): Promise<void> {
  await tables(within)
    .updateTable(COPY_TABLE)
    .set({
      position: progress.position === null ? null : JSON.stringify(progress.position),
      finished: Number(progress.isFinished),
    })
    .where('table_name', '=', table)
    .execute();
}

/** Ends the copy: the database is whole from then on. PostgreSQL checks every reference as it adds the foreign keys. */
export async function finishCopy(transaction: Transaction<unknown>, source: string): Promise<void> {
  const rows = await tables(transaction).selectFrom(COPY_TABLE).select(['table_name', 'foreign_keys']).execute();
  for (const row of rows) {
    const keys = JSON.parse(row.foreign_keys) as ForeignKey[]; // written by `beginCopy`
    for (const { name, definition } of keys) {
      await sql`alter table ${sql.table(row.table_name)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
        transaction,
      );
    }
  }
  await tables(transaction).deleteFrom(COPY_TABLE).execute();
  await markDone(transaction, source);
}

async function assertEmpty(kysely: Kysely<unknown>, location: string, layouts: readonly TableLayout[]): Promise<void> {
  for (const { name } of layouts) {
    if (await hasRows({ kysely }, name)) {
      throw sqlErrors.COPY_TARGET_NOT_EMPTY({ details: { table: name, location } });
    }
  }
}

async function dropForeignKeys(transaction: Transaction<unknown>, table: string): Promise<ForeignKey[]> {
  const { rows } = await sql<ForeignKey>`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where contype = 'f' and conrelid = to_regclass(${`"${table}"`}) order by conname`.execute(transaction);
  for (const { name } of rows) {
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`.execute(transaction);
  }
  return rows;
}

function tables(kysely: Kysely<unknown>): Kysely<CopyTables> {
  return kysely; // our one table, next to any others
}
