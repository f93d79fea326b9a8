import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { RowDigest, type TableDigest } from './row-digest.ts';
import type { Row, TableLayout, Value } from './table-layout.ts';

const ROWS_PER_TURN = 5_000;

/** Reads the rows after a primary key, in its order. */
export function* readSqliteRows(
  database: DatabaseSync,
  table: TableLayout,
  after: readonly Value[] | null,
): Generator<Row> {
  const key = table.key.map(quote).join(', ');
  const where = after === null ? '' : `where (${key}) > (${after.map(() => '?').join(', ')})`;
  const columns = table.columns.map(({ name }) => quote(name)).join(', ');
  const statement = database.prepare(`select ${columns} from ${quote(table.name)} ${where} order by ${key}`);
  // The driver returns these types for the kinds of columns that `readSqliteLayout` admits.
  yield* statement.iterate(...(after ?? [])) as Iterable<Row>;
}

/** Reads the whole table, independently of how it is copied. */
export async function digestSqliteTable(database: DatabaseSync, table: TableLayout): Promise<TableDigest> {
  const digest = new RowDigest(table);
  let rows = 0;
  for (const row of database.prepare(`select * from ${quote(table.name)}`).iterate()) {
    digest.add(row as Row); // see above
    rows += 1;
    if (rows % ROWS_PER_TURN === 0) await setImmediate(); // leases are renewed meanwhile
  }
  return digest.result();
}

/** Returns a function that inserts a row. */
export function createSqliteInsert(database: DatabaseSync, { name, columns }: TableLayout): (row: Row) => void {
  const names = columns.map((column) => column.name);
  const places = names.map(() => '?').join(', ');
  const statement = database.prepare(`insert into ${quote(name)} (${names.map(quote).join(', ')}) values (${places})`);
  return (row) => void statement.run(...names.map((each) => row[each] ?? null));
}

/** The highest number that an automatic key has had; 0 if there was none, or the keys are not counted. */
export function readSqliteSequence(database: DatabaseSync, table: string): number {
  const counts = database.prepare(`select 1 from sqlite_master where name = 'sqlite_sequence'`).get() !== undefined;
  if (!counts) return 0;
  return Number(database.prepare('select seq from sqlite_sequence where name = ?').get(table)?.['seq'] ?? 0);
}

/** Continues an automatic key after this number, if the table counts its keys. */
export function advanceSqliteSequence(database: DatabaseSync, table: string, last: number): void {
  const text = database.prepare('select sql from sqlite_master where name = ?').get(table)?.['sql'];
  if (!/autoincrement/i.test(String(text))) return;
  const { changes } = database.prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?').run(last, table);
  if (changes === 0) database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, last);
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
