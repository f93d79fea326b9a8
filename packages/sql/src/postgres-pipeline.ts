import type pg from 'pg';
import { isDriverError, isUnavailable, toSqlError } from './postgres-errors.ts';
import { sqlErrors } from './errors.ts';
import type { PostgresLink } from './postgres-link.ts';
import type { PostgresConnection, PostgresPool } from './postgres-pool.ts';

/** Rows and command tag of one statement of a pipeline. */
export interface PipelineResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** PostgreSQL's command tag, such as `COMMIT`. A `commit` of a failed transaction reports `ROLLBACK`. */
  readonly command: string;
}

/** One connection to PostgreSQL. Statements run in the order of the calls, without waiting for one another's results. */
export interface Pipeline {
  /** Statements with values are prepared once per connection: their texts must be constants. */
  query(text: string, values?: readonly unknown[]): Promise<PipelineResult>;
}

/** Connections of a PostgreSQL database for statements that are sent without waiting. */
export interface Pipelines {
  /**
   * Runs `work` on a connection, which returns to the pool after the last result has arrived. A connection that is lost
   * or has an open transaction is closed instead.
   */
  use<Result>(work: (pipeline: Pipeline) => Promise<Result>): Promise<Result>;
}

/** Texts are constants in the code. This bounds the memory if some are not. */
const MAX_STATEMENTS = 1_024;

/** Runs statements on connections of the pool. */
export function createPipelines(pool: PostgresPool): Pipelines {
  const names = new StatementNames();
  return {
    use: async (work) => {
      const pipeline = new ClientPipeline(await pool.connect(), names);
      try {
        return await work(pipeline);
      } finally {
        await pipeline.release();
      }
    },
  };
}

class StatementNames {
  readonly #names = new Map<string, string>();

  find(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_STATEMENTS) return known;
    const name = `svc_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

class ClientPipeline implements Pipeline {
  readonly #client: pg.PoolClient;
  readonly #link: PostgresLink;
  readonly #names: StatementNames;
  #isCorked = false;
  #isUnusable = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ client, link }: PostgresConnection, names: StatementNames) {
    this.#client = client;
    this.#link = link;
    this.#names = names;
  }

  query(text: string, values?: readonly unknown[]): Promise<PipelineResult> {
    this.#cork();
    const name = values === undefined ? undefined : this.#names.find(text);
    const config = { text, ...(values === undefined ? {} : { values: [...values] }), ...(name && { name }) };
    const { promise, resolve, reject } = Promise.withResolvers<PipelineResult>();
    this.#link.sent();
    // A callback, because the promises of `pg` cost as much as the rest of a short query.
    this.#client.query(config, (error: Error | null, result: PipelineResult) => {
      this.#link.answered();
      if (error === null || error === undefined) resolve(result);
      else reject(this.#convert(error));
    });
    this.#last = promise; // results arrive in order
    return promise;
  }

  async release(): Promise<void> {
    await this.#last.catch(() => undefined);
    this.#client.release(this.#isUnusable || this.#client.getTransactionStatus() !== 'I');
  }

  /** Sends all statements of the current tick at once. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }

  #convert(error: Error): Error {
    const converted = toSqlError(error, isDriverError(error));
    if (isUnavailable(converted)) this.#isUnusable = true;
    if (!isOutdatedPlan(converted)) return converted;
    this.#isUnusable = true; // its prepared statements are from before the change
    return sqlErrors.SCHEMA_CHANGED({ cause: converted });
  }
}

/** A migration changed the columns of a prepared statement. PostgreSQL has no code for this alone. */
function isOutdatedPlan(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('routine' in error)) return false;
  return error.code === '0A000' && error.routine === 'RevalidateCachedQuery';
}
