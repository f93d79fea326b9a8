import {
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Dialect,
  type PostgresCursor,
  type PostgresPool as KyselyPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import type { PostgresConnection, PostgresPool } from './postgres-pool.ts';
import { isDriverError, isUnavailable, toSqlError } from './postgres-errors.ts';

/** Kysely's PostgreSQL dialect with booleans written as on SQLite. The caller closes the pool. */
export function postgresDialect(pool: PostgresPool): Dialect {
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
function sharePool(pool: PostgresPool): KyselyPool {
  const known = new WeakMap<object, SharedClient>();
  return {
    options: pool.options,
    connect: async () => {
      const connection = await pool.connect();
      const shared = known.get(connection.client) ?? new SharedClient(connection);
      known.set(connection.client, shared);
      return shared;
    },
    end: () => pool.end(),
  };
}

/** A client that leaves the pool when it is released after its connection was lost. */
class SharedClient implements PostgresPoolClient {
  readonly #connection: PostgresConnection;
  #isLost = false;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
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
    this.#connection.client.release(destroy || this.#isLost);
  }

  async #run<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    const { client, link } = this.#connection;
    link.sent();
    try {
      // Kysely names the commands of its results, `pg` any text.
      return (await client.query(sql, parameters.map(withoutFlag))) as unknown as PostgresQueryResult<R>;
    } catch (error) {
      const converted = toSqlError(error, isDriverError(error));
      this.#isLost ||= isUnavailable(converted);
      throw converted;
    } finally {
      link.answered();
    }
  }
}

/** Booleans are stored in `integer` columns on both dialects; `pg` would send `true`, which such a column rejects. */
function withoutFlag(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
}
