import type { Database } from '@svc/sql';
import { sql, type RawBuilder } from 'kysely';
import type { CheckSchema, ForeignKeySchema, Schema, TableSchema } from './schema.ts';

/** What `migrate` itself changes. */
const OWN_TABLE = 'schema_migration';

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly required: number | boolean;
  readonly default_value: string | null;
}

interface KeyRow {
  readonly table_name: string;
  readonly name: string;
  /** Joined by commas. */
  readonly columns: string | null;
}

interface UniqueRow extends KeyRow {
  readonly partial: number | boolean;
}

interface ForeignKeyRow extends KeyRow {
  readonly target: string;
  readonly action: string;
}

interface CheckRow extends KeyRow {
  readonly definition: string;
}

interface Rows {
  readonly columns: readonly ColumnRow[];
  readonly uniques: readonly UniqueRow[];
  readonly foreignKeys: readonly ForeignKeyRow[];
  readonly checks: readonly CheckRow[];
  readonly triggers: readonly KeyRow[];
}

/** Reads the schema as the database itself describes it. */
export async function readSchema(database: Database<unknown>): Promise<Schema> {
  const queries = database.dialect === 'sqlite' ? SQLITE : POSTGRES;
  const read = async <Row>(query: RawBuilder<Row>): Promise<Row[]> => (await query.execute(database.kysely)).rows;
  const rows: Rows = {
    columns: await read(queries.columns),
    uniques: await read(queries.uniques),
    foreignKeys: await read(queries.foreignKeys),
    checks: await read(queries.checks),
    triggers: await read(queries.triggers),
  };
  const names = new Set(rows.columns.map((row) => row.table_name));
  names.delete(OWN_TABLE);
  return new Map([...names].map((name) => [name, createTable(name, rows)]));
}

function createTable(name: string, rows: Rows): TableSchema {
  const own = <Row extends { table_name: string }>(all: readonly Row[]): Row[] =>
    all.filter((row) => row.table_name === name);
  return {
    columns: new Map(
      own(rows.columns).map(({ name: column, type, required, default_value: defaultValue }) => [
        column,
        { type: type.toLowerCase(), isNullable: !required, defaultValue },
      ]),
    ),
    uniques: own(rows.uniques).map((row) => ({ columns: splitColumns(row), isPartial: Boolean(row.partial) })),
    foreignKeys: own(rows.foreignKeys).map((row): ForeignKeySchema => ({
      columns: splitColumns(row),
      target: row.target,
      letsTargetGo: /^(?:cascade|set null|c|n)$/i.test(row.action),
    })),
    checks: own(rows.checks).flatMap((row) => splitChecks(row, own(rows.columns))),
    triggers: own(rows.triggers).map((row) => row.name),
  };
}

function splitColumns({ columns }: KeyRow): string[] {
  return columns === null ? [] : columns.split(',');
}

/** SQLite describes checks only in the text of the table, PostgreSQL one by one with their columns. */
function splitChecks({ definition, columns }: CheckRow, all: readonly ColumnRow[]): CheckSchema[] {
  return [...definition.matchAll(/\bcheck\s*\(/gi)].map(({ index }) => {
    let depth = 0;
    let end = definition.indexOf('(', index);
    do {
      if (definition[end] === '(') depth += 1;
      if (definition[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0 && end < definition.length);
    const text = definition.slice(index, end).replaceAll(/\s+/g, ' ');
    const words = new Set(text.match(/\w+/g));
    const named = all.map(({ name }) => name).filter((name) => words.has(name));
    return { columns: columns?.split(',') ?? named, definition: text };
  });
}

const SQLITE = {
  columns: sql<ColumnRow>`
    select m.name as table_name, c.name, c.type, max(c."notnull", c.pk > 0) as required, c.dflt_value as default_value
    from sqlite_master m join pragma_table_xinfo(m.name) c
    where m.type in ('table', 'view') and m.name not like 'sqlite\\_%' escape '\\'`,
  uniques: sql<UniqueRow>`
    select m.name as table_name, i.name, i.partial,
      (select group_concat(name) from (select coalesce(name, '(expression)') as name from pragma_index_info(i.name) order by seqno)) as columns
    from sqlite_master m join pragma_index_list(m.name) i where m.type = 'table' and i."unique" = 1
    union all
    -- The primary key of a table with numbered rows has no index.
    select m.name, 'primary', 0, c.name from sqlite_master m join pragma_table_info(m.name) c
    where m.type = 'table' and c.pk = 1
      and not exists (select 1 from pragma_index_list(m.name) i where i.origin = 'pk')`,
  foreignKeys: sql<ForeignKeyRow>`
    select m.name as table_name, f.id as name, f."table" as target, f.on_delete as action,
      group_concat(f."from") as columns
    from sqlite_master m join pragma_foreign_key_list(m.name) f where m.type = 'table'
    group by m.name, f.id`,
  checks: sql<CheckRow>`
    select name as table_name, name, null as columns, sql as definition from sqlite_master
    where type = 'table'`,
  triggers: sql<KeyRow>`select tbl_name as table_name, name, null as columns from sqlite_master where type = 'trigger'`,
};

/** Names of the columns with these numbers, in their order. */
const columnNames = (table: string, numbers: string): RawBuilder<string | null> => sql`
  (select string_agg(coalesce(a.attname, '(expression)'), ',' order by k.position)
   from unnest(${sql.raw(numbers)}) with ordinality as k(number, position)
   left join pg_attribute a on a.attrelid = ${sql.raw(table)} and a.attnum = k.number)`;

const inSchema = sql`join pg_class t on t.oid = `;
const isOurs = sql`t.relnamespace = current_schema()::text::regnamespace`;

const POSTGRES = {
  columns: sql<ColumnRow>`
    select t.relname as table_name, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as required, pg_get_expr(d.adbin, d.adrelid) as default_value
    from pg_attribute a ${inSchema} a.attrelid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where ${isOurs} and t.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped`,
  uniques: sql<UniqueRow>`
    select t.relname as table_name, i.indexrelid::regclass::text as name, i.indpred is not null as partial,
      ${columnNames('i.indrelid', 'i.indkey::int2[]')} as columns
    from pg_index i ${inSchema} i.indrelid where ${isOurs} and i.indisunique`,
  foreignKeys: sql<ForeignKeyRow>`
    select t.relname as table_name, c.conname as name, c.confrelid::regclass::text as target, c.confdeltype as action,
      ${columnNames('c.conrelid', 'c.conkey')} as columns
    from pg_constraint c ${inSchema} c.conrelid where ${isOurs} and c.contype = 'f'`,
  checks: sql<CheckRow>`
    select t.relname as table_name, c.conname as name, pg_get_constraintdef(c.oid) as definition,
      ${columnNames('c.conrelid', 'c.conkey')} as columns
    from pg_constraint c ${inSchema} c.conrelid where ${isOurs} and c.contype in ('c', 'x')`,
  triggers: sql<KeyRow>`
    select t.relname as table_name, g.tgname as name, null as columns
    from pg_trigger g ${inSchema} g.tgrelid where ${isOurs} and not g.tgisinternal`,
};
