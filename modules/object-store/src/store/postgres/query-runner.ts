import type { Pipeline, Pipelines } from '@svc/sql';
import { parseDatabaseFault } from '@svc/sql/database-fault';
import { serviceUnavailable } from '../../errors.ts';
import type { Program } from '../program.ts';
import type { PostgresStatements } from './statements.ts';

/** Queries in flight on a connection before another one is opened. */
const BUSY = 16;
const MAX_LANES = 2;
/** After this many queries, a connection returns to the pool, so that others get it if the pool is small. */
const MAX_QUERIES = 512;

/** A connection that several short queries use at once. */
interface Lane {
  readonly pipeline: Promise<Pipeline>;
  active: number;
  served: number;
  end(): void;
}

/** Runs programs that only read. */
export class QueryRunner {
  readonly #pipelines: Pipelines;
  readonly #statements: PostgresStatements;
  readonly #lanes: Lane[] = [];

  constructor(pipelines: Pipelines, statements: PostgresStatements) {
    this.#pipelines = pipelines;
    this.#statements = statements;
  }

  /** `isShort`: reads few rows by key, so that it may wait for others on the same connection, and they for it. */
  async run<Result>(start: () => Program<Result>, isShort: boolean): Promise<Result> {
    const attempt = (): Promise<Result> => {
      const work = (pipeline: Pipeline): Promise<Result> => this.#drive(pipeline, start());
      return isShort ? this.#share(work) : this.#pipelines.use(work);
    };
    try {
      return await attempt();
    } catch (error) {
      const kind = parseDatabaseFault(error)?.kind;
      if (kind === 'conflict') return await attempt(); // a migration ran: other connections prepare the statement anew
      throw kind === 'unavailable' ? serviceUnavailable(error) : error;
    }
  }

  async #drive<Result>(pipeline: Pipeline, program: Program<Result>): Promise<Result> {
    let step = program.next([]);
    while (!step.done) {
      if (step.value.kind !== 'read') throw new Error('a query only reads');
      step = program.next(await this.#statements.rows(pipeline, step.value.text, step.value.values));
    }
    return step.value;
  }

  async #share<Result>(work: (pipeline: Pipeline) => Promise<Result>): Promise<Result> {
    const lane = this.#lanes.toSorted((one, other) => one.active - other.active)[0];
    const chosen = lane !== undefined && (lane.active < BUSY || this.#lanes.length >= MAX_LANES) ? lane : this.#open();
    chosen.active += 1;
    chosen.served += 1;
    if (chosen.served >= MAX_QUERIES) this.#retire(chosen);
    try {
      return await work(await chosen.pipeline);
    } catch (error) {
      this.#retire(chosen);
      throw error;
    } finally {
      chosen.active -= 1;
      if (chosen.active === 0) {
        this.#retire(chosen);
        chosen.end();
      }
    }
  }

  #open(): Lane {
    const ready = Promise.withResolvers<Pipeline>();
    const ended = Promise.withResolvers<void>();
    const used = this.#pipelines.use(async (pipeline) => {
      ready.resolve(pipeline);
      await ended.promise;
    });
    used.catch((error: unknown) => ready.reject(error));
    const lane: Lane = { pipeline: ready.promise, active: 0, served: 0, end: ended.resolve };
    this.#lanes.push(lane);
    return lane;
  }

  /** Gives the lane no further queries. It ends with its last one. */
  #retire(lane: Lane): void {
    const index = this.#lanes.indexOf(lane);
    if (index >= 0) this.#lanes.splice(index, 1);
  }
}
