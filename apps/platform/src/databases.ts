import { migrations } from '@svc/migrations';
import { migrate, openDatabase, type Database, type DatabaseLocation } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import { explain, type DataFolderPaths } from './data-folder.ts';

export interface Databases {
  /** Tables of all modules; on SQLite, except those of the object store. */
  readonly main: Database<unknown>;
}

/** Opens and migrates. Refuses a schema newer than this program before writing anything. */
export async function openDatabases(config: PlatformConfig, folder: DataFolderPaths, log?: Logger): Promise<Databases> {
  const onEventsFault = (err: unknown): void =>
    log?.warn({ err }, 'events of the database are missed for a moment; changes are found by polling');

  const url = config.database.url;
  if (url !== undefined) {
    const main = openDatabase<unknown>({ url, maxConnections: config.database.max_connections, onEventsFault });
    await migrateOrClose(main, url.replace(/\/\/[^@]*@/, '//'), migrations);
    return { main };
  }
  // The object store opens and migrates its own file, whose single writer groups commits.
  return { main: await openSqlite({ file: folder.databaseFile, onEventsFault }) };
}

export function observeEvents(metrics: Metrics, { main }: Databases): void {
  const help = 'Whether events of other replicas arrive (1) or changes are found only by polling (0)';
  metrics.observableGauge('svc_database_events_listening', help, () => Number(main.events.isListening));
}

async function openSqlite(location: DatabaseLocation & { file: string }): Promise<Database<unknown>> {
  const { file } = location;
  let database: Database<unknown>;
  try {
    database = openDatabase<unknown>(location);
  } catch (cause) {
    throw explain(file, cause);
  }
  await migrateOrClose(
    database,
    file,
    migrations.filter((migration) => migration.target === 'platform'),
  );
  return database;
}

async function migrateOrClose(database: Database<unknown>, name: string, wanted: typeof migrations): Promise<void> {
  try {
    await migrate(database, wanted);
  } catch (cause) {
    await database.close();
    throw cause instanceof Error && cause.name === 'AppError' ? cause : explain(name, cause);
  }
}
