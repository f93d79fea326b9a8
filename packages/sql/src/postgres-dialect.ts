import { createRequire } from 'node:module';
import {
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Dialect,
  type PostgresCursor,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import type pg from 'pg';
import { isDriverError, isServerError, isUnavailable, toSqlError } from './postgres-errors.ts';

/** Loaded when the first pool opens: SQLite installations save its 8 MB. */
function loadDriver(): typeof pg {
  // A CommonJS package, so `require` returns the same as `import pg from 'pg'`.
  return createRequire(import.meta.url)('pg') as typeof pg;
}

/** Limits of a connection pool. */
export interface PostgresPoolOptions {
  /** Defaults to 10. */
  readonly maxConnections?: number;
  /** How long a query waits for a connection. Defaults to 10 seconds. */
  readonly connectTimeoutMs?: number;
}

/** Opens a connection pool. The first query connects. */
export function openPostgresPool(url: string, options: PostgresPoolOptions = {}): pg.Pool {
  const driver = loadDriver();
  const pool = new driver.Pool({
    connectionString: url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMillis: 30_000,
    // Detects a vanished server, and releases the locks of a transaction whose process is gone.
    keepAlive: true,
    // Statements are sent without waiting for the results of earlier ones.
    pipeline: true,
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
  // A dying connection must not crash the process: the pool reports idle ones, each connection itself while in use.
  // The query that waits on it fails, and the next one opens another.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Kysely's PostgreSQL dialect with booleans written as on SQLite. The caller closes the pool. */
export function postgresDialect(pool: pg.Pool): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new SharedPoolDriver({ pool: sharePool(pool) }),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class SharedPoolDriver extends PostgresDriver {
  override async destroy(): Promise<void> {}
}

/** The pool as Kysely needs it. Kysely keeps its state per client, so a client always has the same wrapper. */
function sharePool(pool: pg.Pool): PostgresPool {
  const known = new WeakMap<pg.PoolClient, SharedClient>();
  return {
    options: pool.options,
    connect: async () => {
      const client = await connectTo(pool);
      const shared = known.get(client) ?? new SharedClient(client);
      known.set(client, shared);
      return shared;
    },
    end: () => pool.end(),
  };
}

/** Takes a connection from the pool. Throws `DATABASE_UNAVAILABLE` if there is none in time. */
export async function connectTo(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw toSqlError(error, !isServerError(error));
  }
}

/** A client that leaves the pool when it is released after its connection was lost. */
class SharedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  #isLost = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    sql: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof sql !== 'string') throw new Error('cursors are not supported');
    return this.#run<R>(sql, parameters);
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isLost);
  }

  async #run<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    try {
      // Kysely names the commands of its results, `pg` any text.
      return (await this.#client.query(sql, parameters.map(withoutFlag))) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      const converted = toSqlError(error, isDriverError(error));
      this.#isLost ||= isUnavailable(converted);
      throw converted;
    }
  }
}

/** Booleans are stored in `integer` columns on both dialects; `pg` would send `true`, which such a column rejects. */
function withoutFlag(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Above 2^53 a number would be inexact; SQLite's driver refuses it too. */
function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is too large for a number`);
  return value;
}
