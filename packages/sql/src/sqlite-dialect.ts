import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type SqliteDatabase,
  type TransactionSettings,
} from 'kysely';
import { sqlErrors } from './errors.ts';
import type { SqliteEvents } from './sqlite-events.ts';
import { StatementCache } from './statement-cache.ts';

/** Pragmas of every SQLite file: a returned commit is on disk, and readers never wait for the writer. */
export const SQLITE_PRAGMAS = [
  // First, since switching to WAL may itself have to wait for another process.
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA journal_size_limit = 67108864',
] as const;

/** Opens a SQLite file, creating it if missing, and applies `SQLITE_PRAGMAS`. Throws SQLite's own errors. */
export function openSqliteFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    for (const pragma of SQLITE_PRAGMAS) database.exec(pragma);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Kysely's SQLite dialect over `node:sqlite`, which needs no native package. The caller closes the database. */
export function sqliteDialect(database: DatabaseSync, events: SqliteEvents): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ImmediateDriver(database, events),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * Takes the write lock when a transaction begins. A plain `begin` takes it at the first write, which fails immediately
 * if another process wrote in between: the busy timeout does not apply (https://sqlite.org/isolation.html).
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #events: SqliteEvents;

  constructor(database: DatabaseSync, events: SqliteEvents) {
    super({ database: adapt(database, events) });
    this.#database = database;
    this.#events = events;
  }

  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#events.discard();
    // A full disk or a failed write has already rolled back; a second rollback would hide that error.
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }

  /** Closing the file is up to its owner, because Kysely never closes a database that no query has used. */
  override async destroy(): Promise<void> {}
}

function adapt(database: DatabaseSync, events: SqliteEvents): SqliteDatabase {
  const cache = new StatementCache(database);
  return {
    close: () => database.close(),
    prepare: (text) => {
      const { statement, isReader } = cache.get(text);
      return {
        reader: isReader,
        all: (parameters) => {
          const rows = statement.all(...toInputs(parameters));
          events.committed();
          return rows;
        },
        run: (parameters) => {
          const { changes, lastInsertRowid } = statement.run(...toInputs(parameters));
          events.committed();
          return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
        },
        iterate: (parameters) => cache.compile(text).iterate(...toInputs(parameters)),
      };
    },
  };
}

/**
 * Booleans are stored as 0 and 1, and dates never reach this; `node:sqlite` refuses both. Rejects NUL like PostgreSQL:
 * SQLite would store it, but its own functions truncate the text there.
 */
function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'string' && value.includes('\0')) throw sqlErrors.INVALID_TEXT();
    return (value === undefined ? null : value) as SQLInputValue; // Kysely passes only what our typed tables allow
  });
}
