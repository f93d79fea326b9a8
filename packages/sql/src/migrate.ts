import { sql, type Kysely } from 'kysely';
import { checksumOf } from './checksum.ts';
import type { Database, Dialect } from './database.ts';
import { sqlErrors } from './errors.ts';
import { explainFailure } from './explain-failure.ts';

export interface Migration {
  /** `NNNN-what`, zero-padded; the order of the names is the order of the runs. */
  readonly name: string;
  /**
   * `platform` tables live in the main database. `objects` tables live in the object store's own SQLite file, whose one
   * writer groups commits; on PostgreSQL both are the same database.
   */
  readonly target: 'platform' | 'objects';
  up(database: Kysely<unknown>, dialect: Dialect): Promise<void>;
}

interface MigrationTable {
  schema_migration: { name: string; checksum: string; applied_at: string };
}

interface Planned {
  readonly migration: Migration;
  readonly checksum: string;
}

/** Any number that no other program takes in the same database. */
const ADVISORY_LOCK = 727031;

/**
 * Runs what has not run yet, each in a transaction of its own, forward only; answers the names of what it ran. A
 * database that knows a migration which this program does not know, or whose checksum differs, is refused before
 * anything is written (`sqlErrors`). Several processes may call it at once: one runs, the others wait and find it done.
 */
export async function migrate<Tables>(
  database: Pick<Database<Tables>, 'kysely' | 'dialect' | 'location'>,
  migrations: readonly Migration[],
  now: () => Date = () => new Date(),
): Promise<string[]> {
  const kysely = database.kysely as unknown as Kysely<MigrationTable>; // the one table that is ours, beside any others
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
    planned.push({ migration, checksum: await checksumOf(migration, dialect) });
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
    // Replicas that start together: the second waits here and then finds the row. On SQLite `begin immediate` waits.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(transaction);
    await createMigrationTable(transaction);
    const applied = await readApplied(transaction);
    assertFits(applied, planned);
    if (applied.some((row) => row.name === migration.name)) return false;
    await migration.up(transaction as unknown as Kysely<unknown>, dialect); // a migration sees no typed tables
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
