import { DatabaseSync } from 'node:sqlite';
import { migrate, openDatabase, SQLITE_PRAGMAS, type Migration } from '@svc/sql';
import { storeErrors } from '../../errors.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import { GroupCommit, type GroupCommitLimits } from '../group-commit.ts';
import { bindStore } from '../bind-store.ts';
import { KnownTenants } from '../known-tenants.ts';
import type { Command } from '../outcome.ts';
import { findBucket as findBucketProgram } from '../programs/bucket-queries.ts';
import { KnownBuckets } from './known-buckets.ts';
import { SqliteSession } from './session.ts';
import { SqliteWriter } from './writer.ts';

export interface SqliteMetadataOptions {
  file: string;
  /** Migrations with the target `objects` run before the store opens; all others are skipped. */
  migrations: readonly Migration[];
  limits?: GroupCommitLimits;
  /** Workspaces with the same share take turns as one. By default each has its own. */
  shareOf?: (workspaceUuid: string) => string;
  /** Size at which the write-ahead log is checkpointed. Defaults to 64 MiB. */
  checkpointBytes?: number;
}

/** A page fits a 4 KiB inline object with little to spare. Measured against 4, 16 and 32 KiB pages. */
const PAGE_BYTES = 8_192;
const CACHE_KIB = 8_192;

/**
 * Opens the embedded metadata store: one file, one writer thread that groups commits, and a synchronous read connection
 * on this thread. Inline objects are in the same file on purpose: with write-ahead logs, a transaction over two
 * attached files is atomic in each, but not across both (sqlite.org/lang_attach.html), so a crash could leave a row
 * without its bytes.
 */
export async function openSqliteMetadataStore(options: SqliteMetadataOptions): Promise<MetadataStore> {
  preparePages(options.file);
  const database = openDatabase<unknown>({ file: options.file });
  try {
    await migrate(
      database,
      options.migrations.filter((migration) => migration.target === 'objects'),
    );
  } finally {
    await database.close();
  }
  const writer = await SqliteWriter.start({
    file: options.file,
    pragmas: [...SQLITE_PRAGMAS, `PRAGMA cache_size = -${CACHE_KIB}`, 'PRAGMA wal_autocheckpoint = 0'],
    checkpointBytes: options.checkpointBytes ?? 64 * 1024 * 1024,
  });
  const reading = new DatabaseSync(options.file, { readOnly: true });
  reading.exec(`PRAGMA busy_timeout = 5000; PRAGMA cache_size = -${CACHE_KIB}`);
  const session = new SqliteSession(reading);
  const buckets = new KnownBuckets();
  const { shareOf = (workspaceUuid: string) => workspaceUuid } = options;
  const commits = new GroupCommit((commands) => runBatch(writer, commands, buckets), shareOf, options.limits);
  const tenants = new KnownTenants();
  const store = bindStore(
    {
      query: (start) => settled(() => session.run(start())),
      command: (command, weightBytes, tenant) => commits.submit(command, weightBytes, tenant),
      settle: async () => undefined, // a single writer: later reads see every earlier commit
      check: async () => {
        if (writer.failure !== null) throw writer.failure;
        reading.prepare('select count(*) from tenant').get();
      },
      close: async () => {
        await commits.close();
        await writer.close();
        reading.close();
      },
    },
    tenants,
  );
  const findBucket: MetadataStore['findBucket'] = (input) =>
    settled(() => tenants.learn(buckets.find(input.name, () => session.run(findBucketProgram(input)))));
  return { ...store, findBucket };
}

async function runBatch(writer: SqliteWriter, commands: readonly Command[], buckets: KnownBuckets) {
  let bucketsChanged = true; // also if the thread dies in the middle
  try {
    const batch = await writer.run(commands);
    ({ bucketsChanged } = batch);
    return batch.outcomes;
  } finally {
    if (bucketsChanged) buckets.forget();
  }
}

/** Wraps a synchronous SQLite result for the port. */
function settled<Result>(run: () => Result): Promise<Result> {
  try {
    return Promise.resolve(run());
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : storeErrors.InternalError({ cause: error }));
  }
}

/** The page size is fixed once the first table exists. */
function preparePages(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.close();
}
