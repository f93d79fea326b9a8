import { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '../../errors.ts';
import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import { bindStore } from '../bind-store.ts';
import { SqliteSession } from './session.ts';

export interface SqliteSnapshot extends MetadataQueries {
  close(): Promise<void>;
}

/**
 * Writes what is committed now into a new file, in one read transaction: writers are not held up, also those of other
 * processes. Takes as long as the database is large, and blocks this thread.
 */
export function snapshotSqlite(file: string, target: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    database.prepare('vacuum into ?').run(target);
  } finally {
    database.close();
  }
}

/** The queries of a store whose file nobody writes; it is not changed, not even by opening it. */
export function openSqliteSnapshot(file: string): SqliteSnapshot {
  const database = new DatabaseSync(file, { readOnly: true });
  const session = new SqliteSession(database);
  return bindStore({
    query: async (program) => session.run(program),
    command: () => Promise.reject(storeErrors.InternalError()),
    settle: async () => undefined,
    check: async () => undefined,
    close: async () => database.close(),
  });
}
