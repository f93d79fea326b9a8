import { setTimeout as delay } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import { migrate, type Database, type Migration } from '@svc/sql';
import { storeErrors } from '../../errors.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import { bindStore } from '../bind-store.ts';
import { DEFAULT_GROUP_COMMIT_LIMITS, GroupCommit, type GroupCommitLimits } from '../group-commit.ts';
import { CommandRunner } from './command-runner.ts';
import { QueryRunner } from './query-runner.ts';
import { PostgresStatements } from './statements.ts';

export interface PostgresMetadataOptions {
  /** Closed by its owner. */
  database: Database<unknown>;
  migrations: readonly Migration[];
  limits?: GroupCommitLimits;
  /** Workspaces with the same share take turns as one. By default each has its own. */
  shareOf?: (workspaceUuid: string) => string;
}

/** Commands that run alone in a batch, so that one with many rows delays few others. */
const SINGLE_BATCH = 12;

/** Programs that read few rows by key. */
const SHORT_QUERIES = /^(?:find|is)|^(?:bucketDocuments|storeProperty|storeKeys|quotaUsage)$/;

/**
 * Opens a metadata store on PostgreSQL, for several replicas. Runs the same programs and groups commits as on SQLite;
 * commands that cannot share a transaction have a queue of their own.
 */
export async function openPostgresMetadataStore(options: PostgresMetadataOptions): Promise<MetadataStore> {
  const { kysely, pipelines } = options.database;
  if (pipelines === undefined) throw new TypeError('the database is not PostgreSQL');
  await migrate(options.database, options.migrations);
  const { shareOf = (workspaceUuid: string) => workspaceUuid, limits = DEFAULT_GROUP_COMMIT_LIMITS } = options;
  const statements = new PostgresStatements();
  const queries = new QueryRunner(pipelines, statements);
  const commands = new CommandRunner({ pipelines, statements, now: Date.now, random: Math.random });
  const shared = new GroupCommit((batch) => commands.runShared(batch), shareOf, limits);
  const single = new GroupCommit((batch) => commands.runSingly(batch), shareOf, { ...limits, maxBatch: SINGLE_BATCH });
  return bindStore({
    query: (start, name) => queries.run(start, SHORT_QUERIES.test(name)),
    command: (command, weightBytes, tenant) =>
      (commands.canShare(command) ? shared : single).submit(command, weightBytes, tenant),
    settle: () => settle(kysely),
    check: async () => {
      await kysely.executeQuery(CompiledQuery.raw('select 1'));
    },
    close: async () => {
      await Promise.all([shared.close(), single.close()]);
    },
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
