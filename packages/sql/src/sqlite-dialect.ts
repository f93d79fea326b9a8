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
import { StatementCache } from './statement-cache.ts';

/** What every SQLite file of ours runs with: a commit that returned is on disk, readers never wait for the writer. */
export const SQLITE_PRAGMAS = [
  // First, since the change to WAL may itself have to wait for another process.
  'PRAGMA busy_timeout = 5000',
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA journal_size_limit = 67108864',
] as const;

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

/** Kysely's own SQLite dialect over `node:sqlite`, so that no native package is needed. Whoever opened it closes it. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ImmediateDriver(database),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * A transaction takes the write lock when it begins. A plain `begin` takes it at the first write, and where another
 * process wrote in between, that write fails at once: the busy timeout does not apply (https://sqlite.org/isolation.html).
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: adapt(database) });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk or a failed write has rolled back already; a second time would hide the error that tells so.
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }

  /** The file belongs to whoever opened it, since Kysely never closes a database that no query has used. */
  override async destroy(): Promise<void> {}
}

function adapt(database: DatabaseSync): SqliteDatabase {
  const cache = new StatementCache(database);
  return {
    close: () => database.close(),
    prepare: (text) => {
      const { statement, isReader } = cache.get(text);
      return {
        reader: isReader,
        all: (parameters) => statement.all(...toInputs(parameters)),
        run: (parameters) => {
          const { changes, lastInsertRowid } = statement.run(...toInputs(parameters));
          return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
        },
        iterate: (parameters) => cache.compile(text).iterate(...toInputs(parameters)),
      };
    },
  };
}

/**
 * Booleans are stored as 0 and 1 and dates never reach here; `node:sqlite` refuses both. SQLite would store NUL, but its
 * own functions take the text to end there, and PostgreSQL refuses it: what one takes, the other takes.
 */
function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'string' && value.includes('\0')) throw sqlErrors.INVALID_TEXT();
    return (value === undefined ? null : value) as SQLInputValue; // Kysely hands on what our typed tables allow
  });
}
