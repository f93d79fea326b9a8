import { sql, type Kysely } from 'kysely';
import { computeChecksum } from './checksum.ts';
import type { Database, Dialect } from './database.ts';
import { sqlErrors } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import type { Migration } from './migration.ts';

interface MigrationTable {
  schema_migration: { name: string; checksum: string; applied_at: string };
}

interface Planned {
  readonly migration: Migration;
  readonly checksum: string;
}

/** Any number unused by other programs in the same database. */
const ADVISORY_LOCK = 727031;

/**
 * Runs pending migrations forward only, each in its own transaction. Returns their names. Refuses a database with an
 * unknown migration or a different checksum before any write (`sqlErrors`). Safe to call from several processes: one
 * runs, the others wait and find nothing to do.
 */
export async function migrate<Tables>(
  database: Pick<Database<Tables>, 'kysely' | 'dialect' | 'location'>,
  migrations: readonly Migration[],
  now: () => Date = () => new Date(),
): Promise<string[]> {
  const kysely = database.kysely as unknown as Kysely<MigrationTable>; // our one table, next to any others
  try {
    const planned = await plan(migrations, database.dialect);
    if (await hasMigrationTable(kysely, database.dialect)) assertFits(await readApplied(kysely), planned);
    const ran: string[] = [];
    for (const step of planned) {
      if (await runOnce(kysely, database.dialect, step, planned, now)) ran.push(step.migration.name);
    }
    return ran;
  } catch (error) {
    throw explainFailure(database.location ?? '', error);
  }
}

async function plan(migrations: readonly Migration[], dialect: Dialect): Promise<Planned[]> {
  const ordered = migrations.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const planned: Planned[] = [];
  for (const migration of ordered) {
    if (planned.at(-1)?.migration.name === migration.name)
      throw new Error(`two migrations are named ${migration.name}`);
    planned.push({ migration, checksum: await computeChecksum(migration, dialect) });
  }
  return planned;
}

async function runOnce(
  kysely: Kysely<MigrationTable>,
  dialect: Dialect,
  { migration, checksum }: Planned,
  planned: readonly Planned[],
  now: () => Date,
): Promise<boolean> {
  return kysely.transaction().execute(async (transaction) => {
    // If replicas start together, the second waits here and then finds the row. On SQLite, `begin immediate` waits.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(transaction);
    await createMigrationTable(transaction);
    const applied = await readApplied(transaction);
    assertFits(applied, planned);
    if (applied.some((row) => row.name === migration.name)) return false;
    await migration.up(transaction as unknown as Kysely<unknown>, dialect); // migrations see no typed tables
    await transaction
      .insertInto('schema_migration')
      .values({ name: migration.name, checksum, applied_at: now().toISOString() })
      .execute();
    return true;
  });
}

async function hasMigrationTable(kysely: Kysely<MigrationTable>, dialect: Dialect): Promise<boolean> {
  const query =
    dialect === 'sqlite'
      ? sql<{ found: number }>`select 1 as found from sqlite_master where type = 'table' and name = 'schema_migration'`
      : sql<{ found: number }>`select 1 as found where to_regclass('schema_migration') is not null`;
  return (await query.execute(kysely)).rows.length > 0;
}

async function createMigrationTable(kysely: Kysely<MigrationTable>): Promise<void> {
  await kysely.schema
    .createTable('schema_migration')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('checksum', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
}

function readApplied(kysely: Kysely<MigrationTable>): Promise<MigrationTable['schema_migration'][]> {
  return kysely.selectFrom('schema_migration').selectAll().orderBy('name').execute();
}

function assertFits(applied: readonly MigrationTable['schema_migration'][], planned: readonly Planned[]): void {
  const checksums = new Map(planned.map(({ migration, checksum }) => [migration.name, checksum]));
  for (const row of applied) {
    const expected = checksums.get(row.name);
    if (expected === undefined) throw sqlErrors.SCHEMA_NEWER({ details: { name: row.name } });
    if (expected !== row.checksum) {
      throw sqlErrors.MIGRATION_CHANGED({ details: { name: row.name, found: row.checksum, expected } });
    }
  }
  const names = new Set(applied.map((row) => row.name));
  const last = applied.reduce((latest, { name }) => (name > latest ? name : latest), '');
  const gap = planned.find(({ migration }) => migration.name < last && !names.has(migration.name));
  if (gap !== undefined) throw sqlErrors.MIGRATION_ORDER({ details: { name: gap.migration.name } });
}
