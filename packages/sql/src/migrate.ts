import { sql, type Kysely } from 'kysely';
import { computeChecksum } from './checksum.ts';
import type { Database, Dialect } from './database.ts';
import { sqlErrors } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import { prepareMigrationTable, readApplied, type AppliedMigration, type MigrationTable } from './migration-table.ts';
import type { Migration } from './migration.ts';
import { allowLongPauses } from './postgres-pool.ts';

/** A contracting migration that is about to run. */
export interface Contraction {
  readonly name: string;
  /** The oldest migration that a version must know to use the schema afterwards. */
  readonly contractsAfter: string;
}

/** Options of `migrate`. */
export interface MigrateOptions {
  /** Defaults to the time of the process. */
  readonly now?: () => Date;
  /**
   * Called before each contracting migration, in its transaction. Throws if a process that still runs does not know
   * `contractsAfter`. A process that starts meanwhile is refused by `assertCompatible`.
   */
  readonly beforeContraction?: (contraction: Contraction, transaction: Kysely<unknown>) => Promise<void>;
}

type AnyDatabase<Tables> = Pick<Database<Tables>, 'kysely' | 'dialect' | 'location'>;

interface Planned {
  readonly migration: Migration;
  readonly checksum: string;
}

/** Any number unused by other programs in the same database. */
const ADVISORY_LOCK = 727031;

/**
 * Runs pending migrations forward only: in one transaction on SQLite, in one each on PostgreSQL. Returns their names. A
 * newer schema is accepted unless a migration in it contracted after what this version knows. Refuses such a schema, a
 * different checksum and another order before any write (`sqlErrors`). Safe to call from several processes: one runs, the
 * others wait and find nothing to do.
 */
export async function migrate<Tables>(
  database: AnyDatabase<Tables>,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const kysely = database.kysely as unknown as Kysely<MigrationTable>; // our one table, next to any others
  try {
    const planned = await plan(migrations, database.dialect);
    const applied = await readApplied(kysely, database.dialect);
    assertFits(applied, planned);
    const done = new Set(applied.map(({ name }) => name));
    const pending = planned.filter(({ migration }) => !done.has(migration.name));
    const ran: string[] = [];
    for (const steps of inTransactions(pending, database.dialect)) {
      ran.push(...(await runTogether(kysely, database.dialect, steps, planned, options)));
    }
    return ran;
  } catch (error) {
    throw explainFailure(database.location ?? '', error);
  }
}

/**
 * Throws like `migrate` if this version cannot use the schema, after waiting for a migration under way. Call it once
 * this process is visible to `beforeContraction` of others: it then fails here, or the contraction fails there.
 */
export async function assertCompatible<Tables>(
  database: AnyDatabase<Tables>,
  migrations: readonly Migration[],
): Promise<void> {
  const { dialect, location = '' } = database;
  const kysely = database.kysely as unknown as Kysely<MigrationTable>; // our one table, next to any others
  try {
    const planned = await plan(migrations, dialect);
    await kysely.transaction().execute(async (transaction) => {
      await lock(transaction, dialect);
      assertFits(await readApplied(transaction, dialect), planned);
    });
  } catch (error) {
    throw explainFailure(location, error);
  }
}

/**
 * Throws SCHEMA_AHEAD if the schema has a migration that this version does not know. For work that must see all data,
 * such as a backup: a newer version may keep some of it in tables of its own.
 */
export async function assertNothingNewer<Tables>(
  { kysely, dialect }: AnyDatabase<Tables>,
  migrations: readonly Migration[],
): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name));
  const applied = await readApplied(kysely as unknown as Kysely<MigrationTable>, dialect);
  const unknown = applied.find(({ name }) => !known.has(name));
  if (unknown !== undefined) throw sqlErrors.SCHEMA_AHEAD({ details: { name: unknown.name } });
}

async function plan(migrations: readonly Migration[], dialect: Dialect): Promise<Planned[]> {
  const ordered = migrations.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const planned: Planned[] = [];
  for (const migration of ordered) {
    const { name, contractsAfter } = migration;
    if (planned.at(-1)?.migration.name === name) throw new Error(`two migrations are named ${name}`);
    planned.push({ migration, checksum: await computeChecksum(migration, dialect) });
    if (contractsAfter !== undefined && contractsAfter > name)
      throw new Error(`${name} contracts after ${contractsAfter}, which is later`);
  }
  return planned;
}

/**
 * SQLite writes a new schema several times faster in one transaction. On PostgreSQL, each migration has its own, so that
 * its locks do not outlast it.
 */
function inTransactions(pending: readonly Planned[], dialect: Dialect): (readonly Planned[])[] {
  if (dialect === 'postgres') return pending.map((step) => [step]);
  return pending.length === 0 ? [] : [pending];
}

async function runTogether(
  kysely: Kysely<MigrationTable>,
  dialect: Dialect,
  steps: readonly Planned[],
  planned: readonly Planned[],
  options: MigrateOptions,
): Promise<string[]> {
  return kysely.transaction().execute(async (transaction) => {
    // If replicas start together, the second waits here and then finds the rows. On SQLite, `begin immediate` waits.
    await lock(transaction, dialect);
    if (dialect === 'postgres') await allowLongPauses(transaction as unknown as Kysely<unknown>);
    await prepareMigrationTable(transaction, dialect);
    const applied = await readApplied(transaction, dialect);
    assertFits(applied, planned);
    const done = new Set(applied.map(({ name }) => name));
    const pending = steps.filter(({ migration }) => !done.has(migration.name));
    for (const step of pending) await runStep(transaction, dialect, step, options);
    return pending.map(({ migration }) => migration.name);
  });
}

async function runStep(
  transaction: Kysely<MigrationTable>,
  dialect: Dialect,
  { migration, checksum }: Planned,
  { now = () => new Date(), beforeContraction }: MigrateOptions,
): Promise<void> {
  const { name, contractsAfter } = migration;
  const untyped = transaction as unknown as Kysely<unknown>; // migrations see no typed tables
  if (contractsAfter !== undefined) await beforeContraction?.({ name, contractsAfter }, untyped);
  await migration.up(untyped, dialect);
  await transaction
    .insertInto('schema_migration')
    .values({ name, checksum, applied_at: now().toISOString(), contracts_after: contractsAfter ?? null })
    .execute();
}

async function lock(transaction: Kysely<MigrationTable>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(transaction);
}

function assertFits(applied: readonly AppliedMigration[], planned: readonly Planned[]): void {
  const checksums = new Map(planned.map(({ migration, checksum }) => [migration.name, checksum]));
  const newest = planned.at(-1)?.migration.name ?? '';
  for (const { name, checksum, contractsAfter = name } of applied) {
    const expected = checksums.get(name);
    if (expected === undefined) {
      if (name < newest) throw sqlErrors.SCHEMA_DIVERGED({ details: { name } });
      if (contractsAfter !== null && contractsAfter > newest) {
        throw sqlErrors.SCHEMA_NEWER({ details: { name, required: contractsAfter } });
      }
    } else if (expected !== checksum) {
      throw sqlErrors.MIGRATION_CHANGED({ details: { name, found: checksum, expected } });
    }
  }
  const names = new Set(applied.map((row) => row.name));
  const last = applied.reduce((latest, { name }) => (name > latest ? name : latest), '');
  const gap = planned.find(({ migration }) => migration.name < last && !names.has(migration.name));
  if (gap !== undefined) throw sqlErrors.MIGRATION_ORDER({ details: { name: gap.migration.name } });
}
