import { Kysely, sql, type RawBuilder } from 'kysely';
import type { DatabaseEvents, OnEventsFault } from './database-events.ts';
import { sqlErrors } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import { postgresDialect } from './postgres-dialect.ts';
import { createLogSync } from './log-sync.ts';
import { PostgresEvents } from './postgres-events.ts';
import { PostgresHosts } from './postgres-hosts.ts';
import { createPipelines, type Pipelines } from './postgres-pipeline.ts';
import { PostgresPool, type PostgresPoolOptions } from './postgres-pool.ts';
import { parsePostgresUrl } from './postgres-url.ts';
import { openSqliteFile, sqliteDialect } from './sqlite-dialect.ts';
import { SqliteEvents } from './sqlite-events.ts';

/** The supported databases. */
export type Dialect = 'sqlite' | 'postgres';

/** Where the database is, and how to use PostgreSQL's connections. */
export interface DatabaseLocation extends PostgresPoolOptions {
  /** `postgres://…`, with one or several servers (`parsePostgresUrl`). If absent, uses SQLite in `file`. */
  url?: string;
  /** Path of the SQLite file; `:memory:` in tests of pure queries. */
  file?: string;
  /** Called when the connection for events is lost, or a subscriber throws. Ignored by default. */
  onEventsFault?: OnEventsFault;
}

/** An open database. */
export interface Database<Tables> {
  readonly kysely: Kysely<Tables>;
  readonly dialect: Dialect;
  /** The file, or the URL without credentials; for messages. */
  readonly location?: string;
  /** Connections for statements that are sent without waiting. Only on PostgreSQL. */
  readonly pipelines?: Pipelines;
  /** What other parts and processes changed; `publishEvents` publishes. */
  readonly events: DatabaseEvents;
  /** Resolves if the database answers. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens without migrating: `migrate` is a separate step, so that a newer schema is refused before any write. PostgreSQL
 * is contacted by the first query. An unusable SQLite file throws one of `sqlErrors`.
 */
export function openDatabase<Tables>(location: DatabaseLocation): Database<Tables> {
  const { url, file, onEventsFault = () => undefined } = location;
  if (url !== undefined) return openPostgres(url, location, onEventsFault);
  if (file !== undefined) return openSqlite(file, onEventsFault);
  throw sqlErrors.DATABASE_NOT_NAMED();
}

/**
 * SQL for the database's own time plus an offset, as ISO 8601 in UTC with milliseconds. Processes whose clocks differ
 * agree on it, so leases in a shared database use it. It advances within a transaction.
 *
 * @example
 *   await kysely
 *     .updateTable('lease')
 *     .set({ expires_at: databaseTime(dialect, 10_000) })
 *     .where('expires_at', '<=', databaseTime(dialect))
 *     .execute();
 */
export function databaseTime(dialect: Dialect, offsetMs = 0): RawBuilder<string> {
  if (dialect === 'sqlite') {
    return sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${sql.lit(`${offsetMs / 1_000} seconds`)})`;
  }
  const offset = sql.lit(`${offsetMs} milliseconds`);
  return sql<string>`to_char((clock_timestamp() + ${offset}::interval) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

function openSqlite<Tables>(file: string, onEventsFault: OnEventsFault): Database<Tables> {
  try {
    const database = openSqliteFile(file);
    // SQLite would sync within each commit and block the event loop; the dialect syncs the log outside it instead.
    database.exec('PRAGMA synchronous = NORMAL');
    const events = new SqliteEvents(database, onEventsFault);
    const log = file === ':memory:' ? null : createLogSync(file);
    const kysely = new Kysely<Tables>({ dialect: sqliteDialect({ database, events, log }) });
    const check = (): Promise<void> => checkAnswer(kysely);
    const close = async (): Promise<void> => {
      await events.close();
      await kysely.destroy();
      await log?.close();
      if (database.isOpen) database.close();
    };
    return { kysely, dialect: 'sqlite', location: file, events, check, close };
  } catch (error) {
    throw explainFailure(file, error);
  }
}

function openPostgres<Tables>(url: string, location: DatabaseLocation, onEventsFault: OnEventsFault): Database<Tables> {
  const hosts = new PostgresHosts(parsePostgresUrl(url));
  const pool = new PostgresPool(hosts, location);
  const kysely = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  const events = new PostgresEvents(hosts, onEventsFault);
  const check = (): Promise<void> => checkAnswer(kysely);
  const close = async (): Promise<void> => {
    await events.close();
    await kysely.destroy();
    await pool.end();
  };
  const pipelines = createPipelines(pool);
  return { kysely, dialect: 'postgres', location: hosts.url.name, pipelines, events, check, close };
}

async function checkAnswer<Tables>(kysely: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(kysely);
}
