import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { migrate, openDatabase, type Database } from '@svc/sql';
import type { PlatformConfig } from './config.ts';
import { explain, type DataFolderPaths } from './data-folder.ts';

export interface Databases {
  /** Tables of all modules but the object store's hot ones. */
  readonly main: Database<unknown>;
  /** The object store's own SQLite file, already migrated; null on PostgreSQL, where its tables stand in `main`. */
  readonly objectsFile: string | null;
}

/** Opens and migrates. A schema that is newer than this program is refused before anything is written. */
export async function openDatabases(config: PlatformConfig, folder: DataFolderPaths): Promise<Databases> {
  const url = config.database.url;
  if (url !== undefined) {
    const main = openDatabase<unknown>({ url, maxConnections: config.database.max_connections });
    await migrateOrClose(main, url.replace(/\/\/[^@]*@/, '//'), migrations);
    return { main, objectsFile: null };
  }
  const main = await openSqlite(folder.databaseFile, 'platform');
  try {
    const objectsFile = join(folder.objectsFolder, 'objects.db');
    const objects = await openSqlite(objectsFile, 'objects');
    await objects.close();
    return { main, objectsFile };
  } catch (error) {
    await main.close();
    throw error;
  }
}

async function openSqlite(file: string, target: 'platform' | 'objects'): Promise<Database<unknown>> {
  let database: Database<unknown>;
  try {
    database = openDatabase<unknown>({ file });
  } catch (cause) {
    throw explain(file, cause);
  }
  await migrateOrClose(
    database,
    file,
    migrations.filter((migration) => migration.target === target),
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
