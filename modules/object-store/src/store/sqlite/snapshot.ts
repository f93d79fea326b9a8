import { DatabaseSync } from 'node:sqlite';
import { storeErrors } from '../../errors.ts';
import type { MetadataQueries } from '../../domain/ports/metadata-store.ts';
import { bindStore } from '../bind-store.ts';
import { SqliteSession } from './session.ts';

export interface SqliteSnapshot extends MetadataQueries {
  close(): Promise<void>;
}

/**
 * Writes the committed state to a new file in one read transaction. Does not block writers, including other processes,
 * but blocks this thread for a time proportional to the database's size.
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

/** Queries a store file that has no writer. Opening it does not change it. */
export function openSqliteSnapshot(file: string): SqliteSnapshot {
  const database = new DatabaseSync(file, { readOnly: true });
  const session = new SqliteSession(database);
  return bindStore({
    query: async (start) => session.run(start()),
    command: () => Promise.reject(storeErrors.InternalError()),
    settle: async () => undefined,
    check: async () => undefined,
    close: async () => database.close(),
  });
}
