import type { Pipeline } from '@svc/sql';
import { toOutcome, type Command, type CommandOutcome } from '../outcome.ts';
import type { Lock, Program, Row, SqlValue, Statement } from '../program.ts';
import { startProgram } from '../start-program.ts';
import { LockQueue } from './lock-queue.ts';
import { Additions, takeLocks, type PostgresStatements } from './statements.ts';

/** A program that must be undone: all others of its transaction roll back with it. */
export class ProgramFailure extends Error {
  /** Position of its command; null if the transaction failed for another reason. */
  readonly index: number | null;

  constructor(index: number | null, cause: unknown) {
    super('a program failed', { cause });
    this.index = index;
  }
}

export interface TransactionOptions {
  readonly pipeline: Pipeline;
  readonly statements: PostgresStatements;
  /** Writes counters before every read instead of at the end, so that a quota is checked while its program runs. */
  readonly exactCounters: boolean;
}

interface Running {
  readonly index: number;
  readonly program: Program<unknown>;
  readonly step: IteratorResult<Statement, unknown>;
  readonly locks: readonly Lock[];
}

/**
 * One transaction of several programs. They run at the same time, each waiting only for its own reads, so that a batch
 * takes as many round trips as its longest program. Programs that claim the same lock run one after another.
 */
export class PostgresTransaction {
  readonly #pipeline: Pipeline;
  readonly #statements: PostgresStatements;
  readonly #exactCounters: boolean;
  readonly #additions = new Additions();
  /** Reads since the last write: equal ones share a result. */
  readonly #reads = new Map<string, Promise<readonly Row[]>>();
  #failure: ProgramFailure | null = null;
  #pending: Promise<unknown>[] = [];

  constructor({ pipeline, statements, exactCounters }: TransactionOptions) {
    this.#pipeline = pipeline;
    this.#statements = statements;
    this.#exactCounters = exactCounters;
  }

  /**
   * Runs the programs of the commands, without committing. A program that throws before it has written is refused alone.
   * Throws `ProgramFailure` if anything must be undone.
   */
  async run(commands: readonly Command[]): Promise<readonly CommandOutcome[]> {
    void this.#watch(null, this.#pipeline.query('begin isolation level read committed'));
    const outcomes: CommandOutcome[] = [];
    const running: Running[] = [];
    for (const [index, command] of commands.entries()) {
      const started = start(command, index);
      if ('kind' in started) outcomes[index] = started;
      else running.push(started);
    }
    this.lock(running.flatMap(({ locks }) => locks));
    const queue = new LockQueue();
    await Promise.all(
      running.map(async (each) => {
        outcomes[each.index] = await queue.run(each.locks, () => this.#drive(each));
      }),
    );
    await this.#settle();
    return outcomes;
  }

  /** Runs a program that only reads. It sees the counters of all commands. */
  async query<Result>(program: Program<Result>): Promise<Result> {
    this.#flush();
    let step = program.next([]);
    while (!step.done) step = program.next(await this.#execute(step.value, null));
    return step.value;
  }

  lock(locks: readonly Lock[]): void {
    void this.#watch(null, takeLocks(this.#pipeline, locks));
  }

  /** Resolves once the transaction is on stable storage. Any error leaves its outcome unknown. */
  async commit(): Promise<void> {
    this.#flush();
    const committed = this.#pipeline.query('commit');
    await this.#settle().catch(async (failure: unknown) => {
      await committed.catch(() => undefined); // PostgreSQL has rolled back instead
      throw failure;
    });
    const { command } = await committed;
    if (command !== 'COMMIT') throw new Error('PostgreSQL rolled a transaction back instead of committing it');
  }

  /** Never throws: a connection that cannot roll back is closed, which does the same. */
  async rollback(): Promise<void> {
    await this.#pipeline.query('rollback').catch(() => undefined);
  }

  /** Sends the additions to counters. */
  #flush(): void {
    for (const { text, values } of this.#additions.take()) {
      this.#reads.clear();
      void this.#watch(null, this.#statements.rows(this.#pipeline, text, values));
    }
  }

  async #drive({ index, program, step: opening }: Running): Promise<CommandOutcome> {
    let hasWritten = false;
    try {
      let step = opening;
      while (!step.done) {
        if (this.#failure !== null) throw this.#failure;
        const { kind } = step.value;
        hasWritten ||= kind === 'write' || kind === 'send' || kind === 'add';
        step = program.next(await this.#execute(step.value, index));
      }
      return { kind: 'done', value: step.value };
    } catch (error) {
      const outcome = toOutcome(error);
      if (hasWritten || outcome.kind !== 'refused') this.#fail(index, error);
      return outcome;
    }
  }

  /** Resolves at once for statements without rows; `#settle` reports their errors. */
  #execute(statement: Statement, index: number | null): readonly Row[] | Promise<readonly Row[]> {
    switch (statement.kind) {
      case 'claim':
        return []; // taken before any program ran
      case 'lock':
        this.#reads.clear();
        void this.#watch(index, takeLocks(this.#pipeline, statement.locks));
        return [];
      case 'add':
        this.#additions.add(statement);
        return [];
      case 'send':
        this.#reads.clear();
        void this.#watch(index, this.#statements.rows(this.#pipeline, statement.text, statement.values));
        return [];
      case 'write':
        this.#reads.clear();
        return this.#watch(index, this.#statements.rows(this.#pipeline, statement.text, statement.values));
      case 'read':
        return this.#read(statement.text, statement.values, index);
    }
  }

  #read(text: string, values: readonly SqlValue[], index: number | null): Promise<readonly Row[]> {
    if (this.#exactCounters) this.#flush();
    const id = `${text}\n${JSON.stringify(values)}`;
    const known = this.#reads.get(id);
    if (known !== undefined) return known;
    const rows = this.#watch(index, this.#statements.rows(this.#pipeline, text, values));
    this.#reads.set(id, rows);
    return rows;
  }

  /** Notes a failure of the statement. Returns the same promise, which need not be awaited. */
  #watch<Result>(index: number | null, sent: Promise<Result>): Promise<Result> {
    this.#pending.push(sent.catch((error: unknown) => this.#fail(index, error)));
    return sent;
  }

  #fail(index: number | null, error: unknown): void {
    if (error instanceof ProgramFailure) return;
    if (this.#failure === null || isAfterFailure(this.#failure.cause)) this.#failure = new ProgramFailure(index, error);
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
    if (this.#failure !== null) throw this.#failure;
  }
}

/** PostgreSQL refuses every statement after the one that failed (25P02). */
function isAfterFailure(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02';
}

/** Runs a program up to its first statement. Returns the outcome if there is none. */
function start(command: Command, index: number): Running | CommandOutcome {
  try {
    const program = startProgram(command);
    const step = program.next([]);
    const locks = !step.done && step.value.kind === 'claim' ? step.value.locks : [];
    return { index, program, step, locks };
  } catch (error) {
    return toOutcome(error);
  }
}
