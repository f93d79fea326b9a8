import type { DatabaseSync } from 'node:sqlite';
import { sql, type Kysely } from 'kysely';
import { sqlErrors } from '../errors.ts';

/** Kinds of values that both databases store: flags are integers, and times are text or integers. */
export type ColumnKind = 'text' | 'integer' | 'real' | 'bytes';

/** A value as both drivers return it. */
export type Value = string | number | null | Uint8Array;

/** A row of any table. */
export type Row = Readonly<Record<string, Value>>;

/** A column of a table. */
interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A table with its primary key, in the key's order. */
export interface TableLayout {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** The table of migration 0110. */
export const COPY_TABLE = 'database_copy';
/** Each database has its own. */
const OWN_TABLES: ReadonlySet<string> = new Set(['schema_migration', COPY_TABLE]);

const SQLITE_KINDS: Readonly<Record<string, ColumnKind>> = {
  text: 'text',
  integer: 'integer',
  bigint: 'integer',
  'double precision': 'real',
  blob: 'bytes',
};
const POSTGRES_KINDS: Readonly<Record<string, ColumnKind>> = {
  text: 'text',
  integer: 'integer',
  bigint: 'integer',
  'double precision': 'real',
  bytea: 'bytes',
};

/** Reads the tables of a SQLite file, in the order of their names. */
export function readSqliteLayout(database: DatabaseSync): TableLayout[] {
  const tables = database
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`,
    )
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !OWN_TABLES.has(name));
  return tables.map((name) => {
    const rows = database.prepare('select name, type, pk from pragma_table_info(?) order by cid').all(name);
    const columns = rows.map((row) => ({
      name: String(row['name']),
      kind: kindOf(SQLITE_KINDS, name, String(row['type'])),
    }));
    const key = rows
      .filter(({ pk }) => Number(pk) > 0)
      .toSorted((left, right) => Number(left['pk']) - Number(right['pk']))
      .map((row) => String(row['name']));
    if (key.length === 0) throw sqlErrors.COPY_LAYOUT({ details: { table: name, reason: 'it has no primary key' } });
    return { name, columns, key };
  });
}

/** Throws COPY_LAYOUT unless PostgreSQL has the same tables and columns. It may have further tables. */
export async function assertPostgresLayout(kysely: Kysely<unknown>, tables: readonly TableLayout[]): Promise<void> {
  const { rows } = await sql<{ table: string; column: string; type: string }>`
    select table_name as table, column_name as column, data_type as type
    from information_schema.columns where table_schema = current_schema() order by ordinal_position`.execute(kysely);
  for (const { name, columns } of tables) {
    const found = rows
      .filter(({ table }) => table === name)
      .map(({ column, type }) => `${column} ${kindOf(POSTGRES_KINDS, name, type)}`);
    const wanted = columns.map((column) => `${column.name} ${column.kind}`);
    const odd = [...wanted.filter((each) => !found.includes(each)), ...found.filter((each) => !wanted.includes(each))];
    if (odd.length > 0) throw sqlErrors.COPY_LAYOUT({ details: { table: name, reason: odd.join(', ') } });
  }
}

function kindOf(kinds: Readonly<Record<string, ColumnKind>>, table: string, type: string): ColumnKind {
  const kind = kinds[type.toLowerCase()];
  if (kind === undefined) throw sqlErrors.COPY_LAYOUT({ details: { table, reason: `the type ${type} is unknown` } });
  return kind;
}
