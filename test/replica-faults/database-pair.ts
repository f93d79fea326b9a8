import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, type Database } from '@svc/sql';
import { findPostgresPrograms, startPostgres, waitFor, type PostgresOptions, type PostgresServer } from '@svc/testing';
import { sql } from 'kysely';

const WAIT_MS = 60_000;

/** A place of one of the two servers. Its port changes when the server is replaced. */
interface Place {
  server: PostgresServer;
  port: number;
}

/**
 * A PostgreSQL primary that acknowledges a commit once its streaming standby has written it, and that standby. A restart of
 * the machine is not simulated, so the servers need not sync to the disk.
 */
export class DatabasePair implements AsyncDisposable {
  readonly places: readonly [Place, Place];
  readonly #options: PostgresOptions;
  #primary: 0 | 1 = 0;
  #knownDeadlocks = 0;

  private constructor(options: PostgresOptions, primary: PostgresServer, standby: PostgresServer) {
    this.#options = options;
    this.places = [placeOf(primary), placeOf(standby)];
  }

  static async start(folder: string): Promise<DatabasePair> {
    const options: PostgresOptions = {
      environment: { PATH: process.env['PATH'] ?? '' },
      isRoot: process.getuid?.() === 0,
      signal: new AbortController().signal,
      logFile: join(folder, 'postgres.log'),
      // A killed server keeps what it wrote, and a standby returns soon after an outage.
      settings: { synchronous_commit: 'on', wal_retrieve_retry_interval: '500ms', max_connections: '100' },
    };
    const primary = await startPostgres(programs(), options);
    try {
      const pair = new DatabasePair(options, primary, await standbyOf(options, primary));
      await pair.#requireStandby();
      return pair;
    } catch (error) {
      await primary.stop();
      throw error;
    }
  }

  /** URL of the primary. */
  get url(): string {
    return this.#primaryPlace.server.url;
  }

  get #primaryPlace(): Place {
    return this.places[this.#primary];
  }

  get #standbyPlace(): Place {
    return this.places[this.#primary === 0 ? 1 : 0];
  }

  /** Runs `use` with a connection to the primary. */
  async query<Value>(use: (database: Database<unknown>) => Promise<Value>): Promise<Value> {
    const database = openDatabase<unknown>({ url: this.url, maxConnections: 1 });
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  }

  /** How many deadlocks the servers have broken since the last call. */
  newDeadlocks(): number {
    const log = readFileSync(this.#options.logFile, 'utf8');
    const known = this.#knownDeadlocks;
    this.#knownDeadlocks = log.split('deadlock detected').length - 1;
    return this.#knownDeadlocks - known;
  }

  /** Kills the primary, waits, and starts it again. */
  async restartPrimary(away: () => Promise<void>): Promise<void> {
    await restart(this.#primaryPlace.server, away);
    await this.#untilReplicated();
  }

  async restartStandby(away: () => Promise<void>): Promise<void> {
    await restart(this.#standbyPlace.server, away);
    await this.#untilReplicated();
  }

  /** Kills the primary for good, promotes the standby, and adds a new standby in place of the old primary. */
  async failOver(): Promise<void> {
    const lost = this.#primaryPlace;
    await lost.server.kill();
    const promoted = this.#standbyPlace;
    this.#primary = this.#primary === 0 ? 1 : 0;
    // It has the setting of the primary that it was copied from, and would wait for a standby of its own.
    await promoted.server.promote();
    await this.#set('synchronous_standby_names', '');
    await lost.server.stop();
    Object.assign(lost, placeOf(await standbyOf(this.#options, promoted.server)));
    await this.#requireStandby();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server } of this.places) await server.stop();
  }

  async #requireStandby(): Promise<void> {
    await this.#set('synchronous_standby_names', '*');
    await this.#untilReplicated();
  }

  async #untilReplicated(): Promise<void> {
    const replicated = (): Promise<boolean> =>
      this.query(async ({ kysely }) => {
        const { rows } = await sql<{ state: string }>`select sync_state as state from pg_stat_replication`.execute(
          kysely,
        );
        return rows.some(({ state }) => state === 'sync');
      });
    await waitFor(replicated, { timeoutMs: WAIT_MS, intervalMs: 100, description: 'the standby to follow' });
  }

  async #set(name: string, value: string): Promise<void> {
    await this.query(async ({ kysely }) => {
      await sql.raw(`alter system set ${name} = '${value}'`).execute(kysely);
      await sql`select pg_reload_conf()`.execute(kysely);
    });
  }
}

function programs(): string {
  const found = findPostgresPrograms();
  if (found === null) throw new Error('PostgreSQL is not installed');
  return found;
}

function standbyOf(options: PostgresOptions, primary: PostgresServer): Promise<PostgresServer> {
  return startPostgres(programs(), { ...options, standbyOf: primary.url });
}

function placeOf(server: PostgresServer): Place {
  return { server, port: Number(new URL(server.url).port) };
}

async function restart(server: PostgresServer, away: () => Promise<void>): Promise<void> {
  await server.kill();
  await away();
  await server.restart();
}
