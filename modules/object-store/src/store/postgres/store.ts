import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import { migrate, type Database, type Migration } from '@svc/sql';
import { storeErrors } from '../../errors.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import { bindStore } from '../bind-store.ts';
import { GroupCommit, type GroupCommitLimits } from '../group-commit.ts';
import { toOutcome, type Command, type CommandOutcome } from '../outcome.ts';
import type { Program, Row, Statement } from '../program.ts';
import { startProgram } from '../start-program.ts';

export interface PostgresMetadataOptions {
  /** Closed by its owner. */
  database: Database<unknown>;
  migrations: readonly Migration[];
  limits?: GroupCommitLimits;
  /** Workspaces with the same share take turns as one. By default each has its own. */
  shareOf?: (workspaceUuid: string) => string;
}

/**
 * Opens a metadata store on PostgreSQL, for several replicas. Runs the same programs and groups commits as on SQLite.
 */
export async function openPostgresMetadataStore(options: PostgresMetadataOptions): Promise<MetadataStore> {
  const { kysely } = options.database;
  await migrate(options.database, options.migrations);
  const { shareOf = (workspaceUuid: string) => workspaceUuid } = options;
  const commits = new GroupCommit((commands) => runBatch(kysely, commands), shareOf, options.limits);
  return bindStore({
    query: (program) => runProgram(kysely, program),
    command: (command, weightBytes, tenant) => commits.submit(command, weightBytes, tenant),
    settle: () => settle(kysely),
    check: async () => {
      await kysely.executeQuery(CompiledQuery.raw('select 1'));
    },
    close: () => commits.close(),
  });
}

const SETTLE_POLL_MS = 50;
const SETTLE_POLLS = 1_200;

/** A transaction has ended once its number is below the oldest one still running. */
async function settle(kysely: Kysely<unknown>): Promise<void> {
  const mark = await scalar(kysely, 'select pg_current_xact_id()::text as value');
  const ended = `select (pg_snapshot_xmin(pg_current_snapshot()) > '${mark.replace(/\D/g, '')}'::xid8)::text as value`;
  for (let poll = 0; poll < SETTLE_POLLS; poll += 1) {
    if ((await scalar(kysely, ended)) === 'true') return;
    await delay(SETTLE_POLL_MS);
  }
  throw storeErrors.OperationAborted(); // another program holds a transaction open; the caller retries
}

async function scalar(kysely: Kysely<unknown>, text: string): Promise<string> {
  const { rows } = await kysely.executeQuery<{ value: string }>(CompiledQuery.raw(text));
  return rows[0]?.value ?? '';
}

const DEADLOCK_RETRIES = 5;

/**
 * Batches of different replicas take locks in different orders. The loser of a deadlock is retried, one command at a
 * time.
 */
async function runBatch(kysely: Kysely<unknown>, commands: readonly Command[]): Promise<readonly CommandOutcome[]> {
  const outcomes = [...(await runTogether(kysely, commands))];
  for (const [index, command] of commands.entries()) {
    for (let attempt = 0; attempt < DEADLOCK_RETRIES && isDeadlocked(outcomes[index]); attempt += 1) {
      const [outcome] = await runTogether(kysely, [command]);
      if (outcome !== undefined) outcomes[index] = outcome;
    }
  }
  return outcomes;
}

function isDeadlocked(outcome: CommandOutcome | undefined): boolean {
  return outcome?.kind === 'failed' && outcome.deadlocked;
}

async function runTogether(kysely: Kysely<unknown>, commands: readonly Command[]): Promise<readonly CommandOutcome[]> {
  try {
    return await kysely.transaction().execute(async (transaction) => {
      const outcomes: CommandOutcome[] = [];
      for (const command of commands) outcomes.push(await runCommand(transaction, command));
      return outcomes;
    });
  } catch (error) {
    const outcome = toOutcome(error);
    return commands.map(() => outcome);
  }
}

async function runCommand(transaction: Kysely<unknown>, command: Command): Promise<CommandOutcome> {
  await transaction.executeQuery(CompiledQuery.raw('savepoint command'));
  try {
    const value = await runProgram(transaction, startProgram(command));
    await transaction.executeQuery(CompiledQuery.raw('release savepoint command'));
    return { kind: 'done', value };
  } catch (error) {
    await transaction.executeQuery(CompiledQuery.raw('rollback to savepoint command; release savepoint command'));
    return toOutcome(error);
  }
}

async function runProgram<Result>(kysely: Kysely<unknown>, program: Program<Result>): Promise<Result> {
  let step = program.next([]);
  while (!step.done) step = program.next(await queryRows(kysely, step.value));
  return step.value;
}

async function queryRows(kysely: Kysely<unknown>, statement: Statement): Promise<readonly Row[]> {
  if (statement.kind === 'lock' || statement.kind === 'shared-lock') {
    const take = statement.kind === 'lock' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
    await kysely.executeQuery(CompiledQuery.raw(`select ${take}(hashtextextended($1, 727032))`, [statement.text]));
    return [];
  }
  const result = await kysely.executeQuery<Row>(CompiledQuery.raw(numbered(statement.text), [...statement.values]));
  return result.rows;
}

/**
 * Converts `?` to `$1`, `$2`, … and removes index hints for SQLite. No statement has a `?` that is not a placeholder.
 */
function numbered(text: string): string {
  let index = 0;
  return text.replace(/\{index \w+\}/, '').replace(/\?/g, () => `$${(index += 1)}`);
}
