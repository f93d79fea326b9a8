import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from '@svc/migrations';
import { assertNoOlderReplicas } from '@svc/replicas';
import {
  assertNotCopied,
  assertNothingNewer,
  hasRows,
  migrate,
  openDatabase,
  sqlErrors,
  type Database,
  type DatabaseLocation,
  type Dialect,
  type Migration,
} from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import { explain, type DataFolderPaths } from './data-folder.ts';
import { startErrors } from './errors.ts';

export interface Databases {
  /** Tables of all modules; on SQLite, except those of the object store. */
  readonly main: Database<unknown>;
}

/** Has rows from the first start on. */
const USERS_TABLE = 'account_user';

/** The data folder, and its lock if this process holds it. */
type DatabaseFolder = DataFolderPaths & { readonly place?: string | null };

/**
 * Opens and migrates. Refuses a schema that this version cannot use before writing anything, a migration that live
 * replicas of an older version would not survive, and an empty PostgreSQL database beside an installation in SQLite.
 */
export async function openDatabases(config: PlatformConfig, folder: DatabaseFolder, log?: Logger): Promise<Databases> {
  const onEventsFault = (err: unknown): void =>
    log?.warn({ err }, 'events of the database are missed for a moment; changes are found by polling');

  const { place = null } = folder;
  const location = postgresLocation(config);
  if (location !== null) {
    const main = openDatabase<unknown>({ ...location, onEventsFault });
    await migrateOrClose(main, place);
    return { main: await usableOrClose(main, folder) };
  }
  // The object store opens and migrates its own file, whose single writer groups commits.
  const main = await openSqlite({ file: folder.databaseFile, onEventsFault }, place);
  return { main: await usableOrClose(main, folder) };
}

/**
 * Opens the databases for a command. A replica works beside newer ones, but a command that reads or changes all of
 * something would miss what a newer version keeps in tables of its own: throws SCHEMA_AHEAD.
 */
export async function openDatabasesForCommand(config: PlatformConfig, folder: DataFolderPaths): Promise<Databases> {
  const databases = await openDatabases(config, folder);
  try {
    await assertNothingNewer(databases.main, migrations);
    return databases;
  } catch (error) {
    await databases.main.close();
    throw error;
  }
}

/** Throws SCHEMA_AHEAD, like `openDatabasesForCommand`, for a SQLite file, which may be missing. */
export async function assertFileNotNewer(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const database = openDatabase<unknown>({ file });
  try {
    await assertNothingNewer(database, migrations);
  } finally {
    await database.close();
  }
}

/** The configured PostgreSQL database; null with SQLite. */
export function postgresLocation({ database }: PlatformConfig): DatabaseLocation | null {
  const { url, max_connections: maxConnections, connect_timeout_seconds: connectSeconds } = database;
  if (url === undefined) return null;
  return {
    url,
    maxConnections,
    silenceMs: database.silence_seconds * 1_000,
    ...(connectSeconds === undefined ? {} : { connectTimeoutMs: connectSeconds * 1_000 }),
  };
}

/** Migrations of the main database. On SQLite, the object store has a file of its own. */
export function mainMigrations(dialect: Dialect): readonly Migration[] {
  return dialect === 'postgres' ? migrations : migrations.filter(({ target }) => target === 'platform');
}

/** The newest migration that this version knows. */
export function newestMigration(): string {
  return migrations.reduce((newest, { name }) => (name > newest ? name : newest), '');
}

export function observeEvents(metrics: Metrics, { main }: Databases): void {
  const help = 'Whether events of other replicas arrive (1) or changes are found only by polling (0)';
  metrics.observableGauge('svc_database_events_listening', help, () => Number(main.events.isListening));
}

/** Opens and migrates the SQLite file of the platform's tables. `place` is the lock on its data folder. */
export async function openSqlite(
  location: DatabaseLocation & { file: string },
  place: string | null = null,
): Promise<Database<unknown>> {
  const { file } = location;
  let database: Database<unknown>;
  try {
    database = openDatabase<unknown>(location);
  } catch (cause) {
    throw explain(file, cause);
  }
  await migrateOrClose(database, place);
  return database;
}

/** Brings a SQLite file, which may be missing, to the schema of this version. */
export async function migrateFile(file: string, target: Migration['target']): Promise<void> {
  const database = openDatabase<unknown>({ file });
  try {
    await migrate(
      database,
      migrations.filter((migration) => migration.target === target),
    );
  } finally {
    await database.close();
  }
}

async function migrateOrClose(database: Database<unknown>, place: string | null): Promise<void> {
  const { dialect, location = '' } = database;
  try {
    await migrate(database, mainMigrations(dialect), {
      beforeContraction: (contraction, transaction) =>
        assertNoOlderReplicas(transaction, contraction, { dialect, place }),
    });
  } catch (cause) {
    await database.close();
    throw cause instanceof Error && cause.name === 'AppError' ? cause : explain(location, cause);
  }
}

/** Throws DATABASE_MOVED if the data folder's SQLite files are those of before a move. Does not change them. */
export function assertFilesNotMoved({ databaseFile }: Pick<DataFolderPaths, 'databaseFile'>): void {
  if (readContent(databaseFile) === 'moved') throw sqlErrors.DATABASE_MOVED({ details: { location: databaseFile } });
}

async function usableOrClose(database: Database<unknown>, folder: DataFolderPaths): Promise<Database<unknown>> {
  try {
    await assertNotCopied(database);
    if (database.dialect === 'postgres') await assertNothingLeftBehind(database, folder);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Throws if a new installation would begin although the data folder has one in SQLite, or had it until it was moved. */
async function assertNothingLeftBehind(
  database: Database<unknown>,
  { path, databaseFile }: DataFolderPaths,
): Promise<void> {
  const content = readContent(databaseFile);
  if (content === 'nothing' || (await hasRows(database, USERS_TABLE))) return;
  const error = content === 'moved' ? startErrors.DATABASE_MOVED_ELSEWHERE : startErrors.DATABASE_NOT_MOVED;
  throw error({ details: { path } });
}

/** Reads what a SQLite file, which may be missing or of an earlier version, holds. Does not change it. */
function readContent(file: string): 'nothing' | 'installation' | 'moved' {
  if (!existsSync(file)) return 'nothing';
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const has = (table: string): boolean =>
        database.prepare('select 1 from sqlite_master where name = ?').get(table) !== undefined &&
        database.prepare(`select 1 from ${table} limit 1`).get() !== undefined;
      if (has('database_copy')) return 'moved';
      return has(USERS_TABLE) ? 'installation' : 'nothing';
    } finally {
      database.close();
    }
  } catch (cause) {
    throw explain(file, cause);
  }
}
