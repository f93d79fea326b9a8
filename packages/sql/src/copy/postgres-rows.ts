import { sql, type Kysely, type Transaction } from 'kysely';
import { allowLongPauses } from '../postgres-pool.ts';
import { RowDigest, type TableDigest } from './row-digest.ts';
import type { ColumnKind, Row, TableLayout } from './table-layout.ts';

const ROWS_PER_BATCH = 1_000;
/** Rows with content are up to `inline_max_bytes` large. */
const CONTENT_ROWS_PER_BATCH = 64;

const ARRAY_TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text[]',
  integer: 'bigint[]',
  real: 'double precision[]',
  bytes: 'bytea[]',
};

/** How many rows of the table are held in memory at once. */
export function batchSize({ columns }: TableLayout): number {
  return columns.some(({ kind }) => kind === 'bytes') ? CONTENT_ROWS_PER_BATCH : ROWS_PER_BATCH;
}

/** Runs `work` in one snapshot of the database: all reads see the same moment. */
export function inSnapshot<Result>(
  kysely: Kysely<unknown>,
  work: (snapshot: Transaction<unknown>) => Promise<Result>,
): Promise<Result> {
  const reading = kysely.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return reading.execute(async (snapshot) => {
    await allowLongPauses(snapshot);
    return await work(snapshot);
  });
}

/** Reads a table through a cursor. Must run in a transaction. */
export async function* readPostgresRows(snapshot: Transaction<unknown>, table: TableLayout): AsyncGenerator<Row[]> {
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)));
  await sql`declare svc_copy no scroll cursor for select ${columns} from ${sql.table(table.name)}`.execute(snapshot);
  const fetch = sql<Row>`fetch forward ${sql.lit(batchSize(table))} from svc_copy`;
  for (;;) {
    const { rows } = await fetch.execute(snapshot);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close svc_copy`.execute(snapshot);
}

/** Reads the whole table. */
export async function digestPostgresTable(snapshot: Transaction<unknown>, table: TableLayout): Promise<TableDigest> {
  const digest = new RowDigest(table);
  for await (const rows of readPostgresRows(snapshot, table)) for (const row of rows) digest.add(row);
  return digest.result();
}

/** Inserts rows with one statement and one parameter for each column, however many rows there are. */
export async function insertPostgresRows(
  transaction: Transaction<unknown>,
  { name, columns }: TableLayout,
  rows: readonly Row[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column.name)));
  const arrays = sql.join(
    columns.map((column) => {
      const values = rows.map((row) => row[column.name] ?? null);
      return sql`${sql.val(values)}::${sql.raw(ARRAY_TYPES[column.kind])}`;
    }),
  );
  await sql`insert into ${sql.table(name)} (${names}) select * from unnest(${arrays})`.execute(transaction);
}
