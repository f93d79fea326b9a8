import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import {
  assertNotCopied,
  copyToPostgres,
  hasCopyBegun,
  markMoved,
  migrate,
  openDatabase,
  type CopiedTable,
} from '@svc/sql';
import type { PlatformConfig } from './config.ts';
import { dataFolderPaths, openDataFolder } from './data-folder.ts';
import { migrateFile, openSqlite, postgresLocation } from './databases.ts';
import { startErrors } from './errors.ts';
import { OBJECTS_DATABASE } from './object-store/open-store.ts';
import { openInstallation } from './replica.ts';

/** Report of `svc migrate sqlite-to-postgres`. */
interface MoveReport {
  /** The database, without credentials. */
  readonly target: string;
  /** Empty if everything was moved before. */
  readonly tables: readonly CopiedTable[];
}

/**
 * Copies all rows of a data folder into the empty database of `database.url`, and verifies them. After that, the data
 * folder needs `database.url`: the SQLite files stay, but no platform starts on them. Holds the data folder's lock, so
 * that no platform runs. If interrupted, the next call continues.
 */
export async function moveToPostgres(config: PlatformConfig): Promise<MoveReport> {
  const location = postgresLocation(config);
  if (location === null) throw startErrors.MOVE_NEEDS_URL();
  const { path, databaseFile, objectsFolder } = dataFolderPaths(config.data);
  if (!existsSync(databaseFile)) throw startErrors.NO_PLATFORM_THERE({ details: { path } });
  const folder = openDataFolder(config.data);
  try {
    const objects = join(objectsFolder, OBJECTS_DATABASE);
    await migrateFile(objects, 'objects');
    const source = await openSqlite({ file: databaseFile });
    const target = openDatabase<unknown>(location);
    try {
      await migrate(target, migrations);
      // What was moved before is old: the other database has been used since.
      if (!(await hasCopyBegun(target))) await assertNotCopied(source);
      const { id } = await openInstallation(source).open();
      const tables = await copyToPostgres({
        files: [databaseFile, objects],
        target,
        source: `installation ${id}`,
        beforeFinish: () => markMoved(source),
      });
      return { target: target.location ?? '', tables };
    } finally {
      await target.close();
      await source.close();
    }
  } finally {
    folder.release();
  }
}
