import { createRequire } from 'node:module';
import {
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
} from 'kysely';
import type pg from 'pg';
import { parseDatabaseFault } from './database-fault.ts';
import { sqlErrors } from './errors.ts';

/** Loaded when the first pool opens: SQLite installations save its 8 MB. */
function loadDriver(): typeof pg {
  // A CommonJS package, so `require` returns the same as `import pg from 'pg'`.
  return createRequire(import.meta.url)('pg') as typeof pg;
}

/** Opens a connection pool. The first query connects. */
export function openPostgresPool(url: string, maxConnections: number): pg.Pool {
  const driver = loadDriver();
  const pool = new driver.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    // Detects a vanished server, and releases the locks of a transaction whose process is gone.
    keepAlive: true,
    idle_in_transaction_session_timeout: 300_000,
    application_name: 'svc',
    types: {
      // Counters and sums are numbers, as on SQLite; otherwise strings would reach every caller.
      getTypeParser: (oid, format) =>
        oid === driver.types.builtins.INT8 || oid === driver.types.builtins.NUMERIC
          ? toNumber
          : driver.types.getTypeParser(oid, format),
    },
  });
  // A dying idle connection must not crash the process; the next query opens another.
  pool.on('error', () => undefined);
  return pool;
}

/** Kysely's PostgreSQL dialect with booleans written as on SQLite. The caller closes the pool. */
export function postgresDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new FlagDriver({ pool }),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** Booleans are stored in `integer` columns on both dialects; `pg` would send `true`, which such a column rejects. */
class FlagDriver extends PostgresDriver {
  readonly #seen = new WeakSet<DatabaseConnection>();

  override async acquireConnection(
    ...options: Parameters<PostgresDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(...options);
    if (this.#seen.has(connection)) return connection;
    this.#seen.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async (query, ...rest) => {
      try {
        return await execute(withFlags(query), ...rest);
      } catch (error) {
        if (parseDatabaseFault(error)?.kind === 'text') throw sqlErrors.INVALID_TEXT({ cause: error });
        throw error;
      }
    };
    return connection;
  }

  override async destroy(): Promise<void> {}
}

function withFlags(query: CompiledQuery): CompiledQuery {
  if (!query.parameters.some((value) => typeof value === 'boolean')) return query;
  return {
    ...query,
    parameters: query.parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
  };
}

/** Above 2^53 a number would be inexact; SQLite's driver refuses it too. */
function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is too large for a number`);
  return value;
}
