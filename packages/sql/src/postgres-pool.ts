import type { Duplex } from 'node:stream';
import { callbackify } from 'node:util';
import { sql, type Kysely } from 'kysely';
import type pg from 'pg';
import { sqlErrors } from './errors.ts';
import { loadDriver } from './postgres-client.ts';
import { isServerError, toSqlError, unavailable } from './postgres-errors.ts';
import type { PostgresHosts } from './postgres-hosts.ts';
import { PostgresLink } from './postgres-link.ts';
import type { TargetSession } from './postgres-url.ts';
import { PostgresWatch } from './postgres-watch.ts';

/** Options of a connection pool. */
export interface PostgresPoolOptions {
  /** Defaults to 10. */
  readonly maxConnections?: number;
  /** How long a query waits for a connection. Defaults to 10 seconds. */
  readonly acquireTimeoutMs?: number;
  /** How long one server may take to accept a connection. Defaults to the URL's `connect_timeout`, or 5 seconds. */
  readonly connectTimeoutMs?: number;
  /** How long a statement waits in silence before its connection is checked. Defaults to 10 seconds. */
  readonly silenceMs?: number;
}

/** A connection taken from the pool. Its user reports what it sends, so that silence is noticed. */
export interface PostgresConnection {
  readonly client: pg.PoolClient;
  readonly link: PostgresLink;
}

type ConnectCallback = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * The longest pause between two statements of a transaction. After it, the server closes the connection, which releases
 * the locks of a process that hangs or is gone. Others wait for them, such as the replica that its agents dial next.
 */
const MAX_PAUSE_MS = 8_000;
const MAX_LONG_PAUSE_MS = 300_000;

/** Allows this transaction pauses of five minutes, for work that waits for files or clients between its statements. */
export async function allowLongPauses<Tables>(transaction: Kysely<Tables>): Promise<void> {
  await sql`set local idle_in_transaction_session_timeout = ${sql.lit(MAX_LONG_PAUSE_MS)}`.execute(transaction);
}

/** The connections to the servers of one database. */
export class PostgresPool {
  readonly #pool: pg.Pool;
  readonly #hosts: PostgresHosts;
  readonly #watch: PostgresWatch;
  readonly #links = new WeakMap<object, PostgresLink>();

  /** The first query connects. */
  constructor(hosts: PostgresHosts, options: PostgresPoolOptions = {}) {
    const driver = loadDriver();
    const connectTimeoutMs = options.connectTimeoutMs ?? hosts.url.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    this.#hosts = hosts;
    this.#watch = new PostgresWatch({ silenceMs: options.silenceMs ?? 10_000, probeTimeoutMs: connectTimeoutMs });
    this.#pool = new driver.Pool({
      Client: this.#createClientClass(driver, connectTimeoutMs),
      max: options.maxConnections ?? 10,
      connectionTimeoutMillis: options.acquireTimeoutMs ?? 10_000,
      idleTimeoutMillis: 30_000,
      // Finds an idle connection whose server is gone. `PostgresWatch` finds those that wait.
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      // Statements are sent without waiting for the results of earlier ones.
      pipeline: true,
      idle_in_transaction_session_timeout: MAX_PAUSE_MS,
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
    this.#pool.on('error', () => undefined);
  }

  get options(): object {
    return this.#pool.options;
  }

  /**
   * Takes a connection. If a server does not accept one, tries the next one of the URL, each once. Throws
   * `DATABASE_UNAVAILABLE` if no connection is free in time or no server accepts one.
   */
  async connect(): Promise<PostgresConnection> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const client = await this.#pool.connect();
        const link = this.#links.get(client);
        if (link === undefined) throw new Error('a connection was opened by another class');
        return { client, link };
      } catch (error) {
        if (attempt < this.#hosts.count && this.#hosts.isWorthAnother(error)) continue;
        throw toSqlError(error, !isServerError(error));
      }
    }
  }

  async end(): Promise<void> {
    // First, while the watch still cuts connections whose statements would never end.
    if (!this.#pool.ended) await this.#pool.end();
    await this.#watch.close();
  }

  /** Connections to the server that is tried next, checked before anything uses them. */
  #createClientClass({ Client }: typeof pg, connectTimeoutMs: number): new (config?: pg.ClientConfig) => pg.Client {
    const hosts = this.#hosts;
    const links = this.#links;
    const watch = this.#watch;
    return class extends Client {
      readonly #link: PostgresLink;

      constructor(config: pg.ClientConfig = {}) {
        const address = hosts.current();
        const { connectionString } = address;
        super({ ...config, connectionString, connectionTimeoutMillis: connectTimeoutMs });
        this.on('error', () => undefined); // the pending statement fails too
        this.#link = new PostgresLink(address, () => this.connection.stream);
        links.set(this, this.#link);
      }

      override connect(): Promise<pg.Client>;
      override connect(callback: ConnectCallback): void;
      override connect(callback?: ConnectCallback): Promise<pg.Client> | void {
        if (callback === undefined) return this.#open();
        const done = callback as (error: unknown, client?: pg.Client) => void; // `pg` declares each call on its own
        callbackify(() => this.#open())(done);
      }

      async #open(): Promise<pg.Client> {
        try {
          await super.connect();
          const timer = setTimeout(() => this.connection.stream.destroy(), connectTimeoutMs);
          try {
            this.#link.session = await inspect(this, hosts.url.targetSession, this.#link.address.name);
          } finally {
            clearTimeout(timer);
          }
          watch.add(this.#link);
          return this;
        } catch (error) {
          hosts.refused(this.#link.address, error);
          destroy(this.connection.stream);
          throw error;
        }
      }
    };
  }
}

interface SessionRow {
  readonly pid: number;
  readonly started_at: string | null;
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
}

/** Throws unless the server is of the wanted kind. Returns its session, or null behind a pooler that shares them. */
async function inspect(client: pg.Client, wanted: TargetSession, name: string) {
  const { rows } = await client.query<SessionRow>(`select pg_backend_pid() as pid,
    (select backend_start::text from pg_stat_activity where pid = pg_backend_pid()) as started_at,
    pg_is_in_recovery() as is_standby,
    current_setting('transaction_read_only') = 'on' as is_read_only`);
  const [row] = rows;
  if (row === undefined) throw new Error('PostgreSQL returned no row');
  if (wanted !== 'any' && (row.is_standby || (wanted === 'read-write' && row.is_read_only))) {
    throw unavailable(sqlErrors.DATABASE_NOT_PRIMARY({ details: { location: name } }));
  }
  const ownPid: unknown = Object.getOwnPropertyDescriptor(client, 'processID')?.value;
  return row.pid === ownPid && row.started_at !== null ? { pid: row.pid, startedAt: row.started_at } : null;
}

function destroy(stream: Duplex): void {
  if (!stream.destroyed) stream.destroy();
}

/** Above 2^53 a number would be inexact; SQLite's driver refuses it too. */
function toNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is too large for a number`);
  return value;
}
