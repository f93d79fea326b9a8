import { sql, type Kysely } from 'kysely';
import type { Dialect } from './database.ts';
import type { Migration } from './migration.ts';

/** The table that records which migrations ran. It is older than every migration, so none of them can change it. */
export interface MigrationTable {
  schema_migration: {
    name: string;
    checksum: string;
    applied_at: string;
    /** The oldest migration that a version must know to use the schema; null if every earlier version can. */
    contracts_after: string | null;
  };
}

/** A migration that ran. `contractsAfter` is undefined if the version that ran it did not declare it. */
export interface AppliedMigration extends Pick<Migration, 'name'> {
  readonly checksum: string;
  readonly contractsAfter: string | null | undefined;
}

/** Creates the table if it is missing. Versions before decision 0048 created it without the last column. */
export async function prepareMigrationTable(kysely: Kysely<MigrationTable>, dialect: Dialect): Promise<void> {
  if (!(await hasColumn(kysely, dialect, 'name'))) {
    await kysely.schema
      .createTable('schema_migration')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('checksum', 'text', (column) => column.notNull())
      .addColumn('applied_at', 'text', (column) => column.notNull())
      .addColumn('contracts_after', 'text')
      .execute();
  } else if (!(await hasColumn(kysely, dialect, 'contracts_after'))) {
    await kysely.schema.alterTable('schema_migration').addColumn('contracts_after', 'text').execute();
  }
}

/** Lists the migrations that ran, by name; none if the database is new. */
export async function readApplied(kysely: Kysely<MigrationTable>, dialect: Dialect): Promise<AppliedMigration[]> {
  if (!(await hasColumn(kysely, dialect, 'name'))) return [];
  const rows = await kysely.selectFrom('schema_migration').selectAll().orderBy('name').execute();
  return rows.map(({ name, checksum, contracts_after: contractsAfter }) => ({ name, checksum, contractsAfter }));
}

async function hasColumn(kysely: Kysely<MigrationTable>, dialect: Dialect, column: string): Promise<boolean> {
  const query =
    dialect === 'sqlite'
      ? sql`select 1 from pragma_table_info('schema_migration') where name = ${column}`
      : sql`select 1 from pg_attribute where attrelid = to_regclass('schema_migration') and attname = ${column}`;
  return (await query.execute(kysely)).rows.length > 0;
}
