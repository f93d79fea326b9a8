import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteDialect, type SqliteDatabase } from 'kysely';

/** What every SQLite file of ours runs with: a commit that returned is on disk, readers never wait for the writer. */
export const SQLITE_PRAGMAS = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_size_limit = 67108864',
] as const;

export function openSqliteFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  for (const pragma of SQLITE_PRAGMAS) database.exec(pragma);
  return database;
}

/** Kysely's own SQLite dialect over `node:sqlite`, so that no native package is needed. */
export function openSqliteDialect(file: string): SqliteDialect {
  const database = openSqliteFile(file);
  return new SqliteDialect({ database: adapt(database) });
}

function adapt(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (text) => {
      const statement = database.prepare(text);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...toInputs(parameters)),
        run: (parameters) => {
          const { changes, lastInsertRowid } = statement.run(...toInputs(parameters));
          return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
        },
        iterate: (parameters) => statement.iterate(...toInputs(parameters)),
      };
    },
  };
}

/** Booleans are stored as 0 and 1 and dates never reach here; `node:sqlite` refuses both. */
function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    return (value === undefined ? null : value) as SQLInputValue; // Kysely hands on what our typed tables allow
  });
}
