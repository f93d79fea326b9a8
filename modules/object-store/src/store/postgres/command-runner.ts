import { setTimeout as delay } from 'node:timers/promises';
import type { Pipelines } from '@svc/sql';
import { RecentMap } from '@svc/runtime';
import { toOutcome, type Command, type CommandOutcome } from '../outcome.ts';
import { startProgram } from '../start-program.ts';
import { findFullSubjects, limitedSubjects, readQuota, withoutQuota } from './quota-check.ts';
import type { PostgresStatements } from './statements.ts';
import { PostgresTransaction, ProgramFailure } from './transaction.ts';

export interface CommandRunnerDeps {
  readonly pipelines: Pipelines;
  readonly statements: PostgresStatements;
  readonly now: () => number;
  /** From 0 to 1: spreads the retries of replicas that disturbed each other. */
  readonly random: () => number;
}

/** A batch that others disturb this often is split into single commands. */
const SHARED_ATTEMPTS = 4;
const SINGLE_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 500;
/** Connections that single commands use at once. */
const SINGLE_CONNECTIONS = 3;
/** How long the writes of a subject run alone after it was full. */
const FULL_FOR_MS = 5_000;
const MOST_FULL_SUBJECTS = 4_096;

type Attempt =
  | { readonly kind: 'committed'; readonly outcomes: readonly CommandOutcome[] }
  /** Nothing was written. Without the commands at `culprits` the others may succeed. */
  | { readonly kind: 'undone'; readonly culprits: ReadonlySet<number>; readonly outcome: CommandOutcome };

/**
 * Runs commands on PostgreSQL: those that can share a transaction as one, without savepoints, and every other in its own.
 * Whatever must be undone undoes its whole transaction; the commands that caused it then run alone, and the others again.
 */
export class CommandRunner {
  readonly #deps: CommandRunnerDeps;
  /** Subjects of quotas that were full, until when: the counters of these are checked command by command. */
  readonly #fullUntil = new RecentMap<number>(MOST_FULL_SUBJECTS);

  constructor(deps: CommandRunnerDeps) {
    this.#deps = deps;
  }

  /** Whether the command may run in a transaction with others. */
  canShare(command: Command): boolean {
    try {
      const opening = startProgram(command).next([]);
      if (opening.done || opening.value.kind !== 'claim') return false;
    } catch {
      return false;
    }
    const limited = readQuota(command);
    if (limited === null) return true;
    const now = this.#deps.now();
    return limitedSubjects(limited).every((subject) => (this.#fullUntil.get(subject) ?? 0) <= now);
  }

  /** Runs commands that can share a transaction. */
  async runShared(commands: readonly Command[]): Promise<readonly CommandOutcome[]> {
    const outcomes: CommandOutcome[] = [];
    const alone: number[] = [];
    let waiting = [...commands.keys()];
    for (let attempt = 0; attempt < SHARED_ATTEMPTS && waiting.length > 0; attempt += 1) {
      const tried = waiting;
      const result = await this.#tryShared(tried.map((index) => at(commands, index)));
      if (result.kind === 'committed') {
        for (const [place, index] of tried.entries()) outcomes[index] = at(result.outcomes, place);
        waiting = [];
      } else if (isFinal(result.outcome)) {
        for (const index of tried) outcomes[index] = result.outcome;
        waiting = [];
      } else if (result.culprits.size > 0) {
        alone.push(...tried.filter((_index, place) => result.culprits.has(place)));
        waiting = tried.filter((_index, place) => !result.culprits.has(place));
      } else {
        await this.#pause(attempt);
      }
    }
    const rest = [...alone, ...waiting];
    const finished = await this.runSingly(rest.map((index) => at(commands, index)));
    for (const [place, index] of rest.entries()) outcomes[index] = at(finished, place);
    return outcomes;
  }

  /** Runs each command in its own transaction, several at once. */
  async runSingly(commands: readonly Command[]): Promise<readonly CommandOutcome[]> {
    const outcomes: CommandOutcome[] = [];
    const waiting = commands.entries();
    const work = async (): Promise<void> => {
      for (const [index, command] of waiting) outcomes[index] = await this.#runAlone(command);
    };
    await Promise.all(Array.from({ length: SINGLE_CONNECTIONS }, work));
    return outcomes;
  }

  async #runAlone(command: Command): Promise<CommandOutcome> {
    let outcome = await this.#tryAlone(command);
    for (let attempt = 1; attempt < SINGLE_ATTEMPTS && isConflict(outcome); attempt += 1) {
      await this.#pause(attempt);
      outcome = await this.#tryAlone(command);
    }
    if (outcome.kind === 'refused' && outcome.code === 'QuotaExceeded') this.#noteFull(command);
    return outcome;
  }

  async #tryAlone(command: Command): Promise<CommandOutcome> {
    const result = await this.#transact(true, async (transaction) => {
      const outcomes = await transaction.run([command]);
      await transaction.commit();
      return { kind: 'committed', outcomes };
    });
    return result.kind === 'committed' ? at(result.outcomes, 0) : result.outcome;
  }

  #tryShared(commands: readonly Command[]): Promise<Attempt> {
    return this.#transact(false, async (transaction) => {
      const outcomes = await transaction.run(commands.map(withoutQuota));
      const done = commands.filter((_command, index) => outcomes[index]?.kind === 'done');
      const full = await findFullSubjects(transaction, done);
      if (full.size === 0) {
        await transaction.commit();
        return { kind: 'committed', outcomes };
      }
      await transaction.rollback();
      const until = this.#deps.now() + FULL_FOR_MS;
      for (const subject of full) this.#fullUntil.set(subject, until);
      const culprits = new Set([...commands.keys()].filter((index) => isLimitedBy(at(commands, index), full)));
      return { kind: 'undone', culprits, outcome: RETRY };
    });
  }

  async #transact(
    exactCounters: boolean,
    work: (transaction: PostgresTransaction) => Promise<Attempt>,
  ): Promise<Attempt> {
    const { pipelines, statements } = this.#deps;
    try {
      return await pipelines.use(async (pipeline) => {
        const transaction = new PostgresTransaction({ pipeline, statements, exactCounters });
        try {
          return await work(transaction);
        } catch (error) {
          await transaction.rollback();
          throw error;
        }
      });
    } catch (error) {
      const { index, cause } = error instanceof ProgramFailure ? error : { index: null, cause: error };
      const outcome = toOutcome(cause);
      const isCulprit = index !== null && !isConflict(outcome);
      return { kind: 'undone', culprits: new Set(isCulprit ? [index] : []), outcome };
    }
  }

  #noteFull(command: Command): void {
    const limited = readQuota(command);
    if (limited === null) return;
    const until = this.#deps.now() + FULL_FOR_MS;
    for (const subject of limitedSubjects(limited)) this.#fullUntil.set(subject, until);
  }

  #pause(attempt: number): Promise<void> {
    return delay(this.#deps.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
  }
}

/** The outcome of an attempt that is repeated in another way. */
const RETRY: CommandOutcome = { kind: 'failed', message: 'a quota is full', fault: 'conflict' };

function isLimitedBy(command: Command, full: ReadonlySet<string>): boolean {
  const limited = readQuota(command);
  return limited !== null && limitedSubjects(limited).some((subject) => full.has(subject));
}

function isConflict(outcome: CommandOutcome): boolean {
  return outcome.kind === 'failed' && outcome.fault === 'conflict';
}

/** Faults of the server or its disk: further attempts would only add load, or repeat a commit of unknown outcome. */
function isFinal(outcome: CommandOutcome): boolean {
  return outcome.kind === 'failed' && ['unavailable', 'disk', 'disk-full'].includes(outcome.fault);
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new RangeError(`there is no item ${index}`);
  return item;
}
