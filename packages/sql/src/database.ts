import { Kysely } from 'kysely';
import { sqlErrors } from './errors.ts';
import { explainFailure } from './explain-failure.ts';
import { openPostgresPool, postgresDialect } from './postgres-dialect.ts';
import { createPipelines, type Pipelines } from './postgres-pipeline.ts';
import { openSqliteFile, sqliteDialect } from './sqlite-dialect.ts';

/** The supported databases. */
export type Dialect = 'sqlite' | 'postgres';

/** Where the database is. */
export interface DatabaseLocation {
  /** `postgres://…`. If absent, uses SQLite in `file`. */
  url?: string;
  /** Path of the SQLite file; `:memory:` in tests of pure queries. */
  file?: string;
  /** Maximum connections to PostgreSQL. */
  maxConnections?: number;
  /** How long a query waits for a connection to PostgreSQL. Defaults to 10 seconds. */
  connectTimeoutMs?: number;
}

/** An open database. */
export interface Database<Tables> {
  readonly kysely: Kysely<Tables>;
  readonly dialect: Dialect;
  /** The file, or the URL without credentials; for messages. */
  readonly location?: string;
  /** Connections for statements that are sent without waiting. Only on PostgreSQL. */
  readonly pipelines?: Pipelines;
  close(): Promise<void>;
}

/**
 * Opens without migrating: `migrate` is a separate step, so that a newer schema is refused before any write. PostgreSQL
 * is contacted by the first query. An unusable SQLite file throws one of `sqlErrors`.
 */
export function openDatabase<Tables>(location: DatabaseLocation): Database<Tables> {
  if (location.url !== undefined) return openPostgres(location.url, location);
  if (location.file !== undefined) return openSqlite(location.file);
  throw sqlErrors.DATABASE_NOT_NAMED();
}

function openSqlite<Tables>(file: string): Database<Tables> {
  try {
    const database = openSqliteFile(file);
    const kysely = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const close = async (): Promise<void> => {
      await kysely.destroy();
      if (database.isOpen) database.close();
    };
    return { kysely, dialect: 'sqlite', location: file, close };
  } catch (error) {
    throw explainFailure(file, error);
  }
}

function openPostgres<Tables>(url: string, location: DatabaseLocation): Database<Tables> {
  const pool = openPostgresPool(url, location);
  const kysely = new Kysely<Tables>({ dialect: postgresDialect(pool) });
  const close = async (): Promise<void> => {
    await kysely.destroy();
    if (!pool.ended) await pool.end();
  };
  return { kysely, dialect: 'postgres', location: withoutCredentials(url), pipelines: createPipelines(pool), close };
}

function withoutCredentials(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'of database.url' : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
}
