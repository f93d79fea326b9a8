import { createHash } from 'node:crypto';
import {
  DummyDriver,
  Kysely,
  type KyselyConfig,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database, Dialect } from './database.ts';
import { sqlErrors } from './errors.ts';

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

/**
 * Runs what has not run yet, each in a transaction of its own, forward only. A database that knows a migration which
 * this program does not know, or whose checksum differs, is refused before anything is written.
 */
export async function migrate(
  database: Database<unknown>,
  migrations: readonly Migration[],
  now: () => Date = () => new Date(),
): Promise<string[]> {
  const kysely = database.kysely as Kysely<MigrationTable>;
  await kysely.schema
    .createTable('schema_migration')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('checksum', 'text', (column) => column.notNull())
    .addColumn('applied_at', 'text', (column) => column.notNull())
    .execute();
  const ordered = migrations.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const checksums = new Map<string, string>();
  for (const migration of ordered) checksums.set(migration.name, await checksumOf(migration, database.dialect));
  assertKnown(await kysely.selectFrom('schema_migration').selectAll().execute(), checksums);
  const ran: string[] = [];
  for (const migration of ordered) {
    const fresh = await kysely.transaction().execute(async (transaction) => {
      // Two replicas that start together: the second waits here and then finds the row.
      if (database.dialect === 'postgres') await sql`select pg_advisory_xact_lock(727031)`.execute(transaction);
      const applied = await transaction.selectFrom('schema_migration').selectAll().orderBy('name').execute();
      assertKnown(applied, checksums);
      if (applied.some((row) => row.name === migration.name)) return false;
      const later = applied.find((row) => row.name > migration.name);
      if (later !== undefined) throw sqlErrors.MIGRATION_ORDER({ details: { name: migration.name } });
      await migration.up(transaction as unknown as Kysely<unknown>, database.dialect);
      await transaction
        .insertInto('schema_migration')
        .values({
          name: migration.name,
          checksum: checksums.get(migration.name) ?? '',
          applied_at: now().toISOString(),
        })
        .execute();
      return true;
    });
    if (fresh) ran.push(migration.name);
  }
  return ran;
}

function assertKnown(applied: readonly MigrationTable['schema_migration'][], known: ReadonlyMap<string, string>): void {
  for (const row of applied) {
    const expected = known.get(row.name);
    if (expected === undefined) throw sqlErrors.SCHEMA_NEWER({ details: { name: row.name } });
    if (expected !== row.checksum) {
      throw sqlErrors.MIGRATION_CHANGED({ details: { name: row.name, found: row.checksum, expected } });
    }
  }
}

/**
 * Over the statements that `up` compiles to, not over its source: a formatter or a bundler changes nothing, a changed
 * column does. Migrations therefore only define; they never read rows.
 */
export async function checksumOf(migration: Migration, dialect: Dialect): Promise<string> {
  const statements: string[] = [];
  const parts = dialect === 'sqlite' ? sqliteCompiler : postgresCompiler;
  const config: KyselyConfig = {
    dialect: { ...parts, createDriver: () => new DummyDriver() },
    log: (event) => void statements.push(event.query.sql),
  };
  const recorder = new Kysely<unknown>(config);
  await migration.up(recorder, dialect);
  return createHash('sha256').update(statements.join(';\n')).digest('hex').slice(0, 32);
}

const sqliteCompiler = {
  createAdapter: () => new SqliteAdapter(),
  // Kysely types this parameter by any table set; nothing here looks at one.
  createIntrospector: (database: ConstructorParameters<typeof SqliteIntrospector>[0]) =>
    new SqliteIntrospector(database),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};
const postgresCompiler = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (database: ConstructorParameters<typeof PostgresIntrospector>[0]) =>
    new PostgresIntrospector(database),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
