import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { openSqliteDialect } from './sqlite-dialect.ts';

export type Dialect = 'sqlite' | 'postgres';

export interface DatabaseLocation {
  /** `postgres://…`; absent means SQLite in `file`. */
  url?: string;
  /** Path of the SQLite file, `:memory:` in tests of pure queries. */
  file?: string;
  /** Most connections to PostgreSQL. */
  maxConnections?: number;
}

export interface Database<Tables> {
  readonly kysely: Kysely<Tables>;
  readonly dialect: Dialect;
  close(): Promise<void>;
}

/** Opens, does not migrate: `migrate` is a step of its own so that a newer schema is refused before anything is written. */
export function openDatabase<Tables>(location: DatabaseLocation): Database<Tables> {
  if (location.url !== undefined) return openPostgres(location.url, location.maxConnections ?? 10);
  const dialect = openSqliteDialect(location.file ?? ':memory:');
  const kysely = new Kysely<Tables>({ dialect });
  return { kysely, dialect: 'sqlite', close: () => kysely.destroy() };
}

function openPostgres<Tables>(url: string, maxConnections: number): Database<Tables> {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    application_name: 'svc',
    // 64-bit counters (sizes, sequence numbers) stay far below 2^53; text would leak into every caller.
    types: {
      getTypeParser: (oid, format) => (oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // An idle connection that dies must not end the process; the next query opens another.
  pool.on('error', () => undefined);
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { kysely, dialect: 'postgres', close: () => kysely.destroy() };
}
