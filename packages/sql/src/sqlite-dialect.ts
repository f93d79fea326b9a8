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
import type { LogSync } from './log-sync.ts';
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

/** What the dialect works on. */
export interface SqliteDialectDeps {
  readonly database: DatabaseSync;
  readonly events: SqliteEvents;
  /** Called after each commit; its caller gets no result before. Null if SQLite syncs by itself, or there is no file. */
  readonly log: LogSync | null;
}

/** Kysely's SQLite dialect over `node:sqlite`, which needs no native package. The caller closes the database. */
export function sqliteDialect(deps: SqliteDialectDeps): Dialect {
  return {
    createAdapter: () => new QueuedAdapter(),
    createDriver: () => new QueuedDriver(deps),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** The driver queues by itself: Kysely's own queue would hold the next query until the log is synced. */
class QueuedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * Gives the one connection to one caller at a time. A caller that has committed waits for the sync of the log after the
 * next one has the connection, so that several commits share a sync.
 */
class QueuedDriver extends SqliteDriver {
  readonly #deps: SqliteDialectDeps;
  readonly #writes: Writes;
  #queue: Promise<void> = Promise.resolve();
  #leave: () => void = () => undefined;

  constructor(deps: SqliteDialectDeps) {
    const writes = { pending: false };
    super({ database: adapt(deps.database, writes) });
    this.#deps = deps;
    this.#writes = writes;
  }

  override async acquireConnection(
    ...options: Parameters<SqliteDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    const turn = this.#queue;
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    this.#queue = turn.then(() => left);
    await turn;
    this.#leave = leave;
    return await super.acquireConnection(...options);
  }

  override async releaseConnection(): Promise<void> {
    const { events, log } = this.#deps;
    const hasWritten = this.#writes.pending;
    const deliver = events.take();
    this.#writes.pending = false;
    this.#leave();
    if (hasWritten) await log?.sync();
    deliver();
  }

  /**
   * Takes the write lock when a transaction begins. A plain `begin` takes it at the first write, which fails immediately
   * if another process wrote in between: the busy timeout does not apply (https://sqlite.org/isolation.html).
   */
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === 'read only' ? 'begin' : 'begin immediate';
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    this.#deps.events.discard();
    this.#writes.pending = false;
    // A full disk or a failed write has already rolled back; a second rollback would hide that error.
    if (this.#deps.database.isTransaction) await super.rollbackTransaction(connection);
  }

  /** Closing the file is up to its owner, because Kysely never closes a database that no query has used. */
  override async destroy(): Promise<void> {}
}

/** Whether the current caller has written since it got the connection. */
interface Writes {
  pending: boolean;
}

/** Statements that change nothing in the file. */
const READ_ONLY = /^\s*(?:select|begin|commit|rollback|savepoint|release|pragma)\b/i;

function adapt(database: DatabaseSync, writes: Writes): SqliteDatabase {
  const cache = new StatementCache(database);
  return {
    close: () => database.close(),
    prepare: (text) => {
      const { statement, isReader } = cache.get(text);
      if (!READ_ONLY.test(text)) writes.pending = true;
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
