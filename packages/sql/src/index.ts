export { computeChecksum } from './checksum.ts';
export { compileOnce } from './compile-once.ts';
export { assertNotCopied, hasCopyBegun, hasRows, markMoved } from './copy/copy-progress.ts';
export { copyToPostgres, type CopiedTable, type CopyToPostgres } from './copy/copy-to-postgres.ts';
export { copyToSqlite } from './copy/copy-to-sqlite.ts';
export {
  parseDatabaseFault,
  violatesForeignKey,
  violatesUnique,
  type DatabaseFault,
  type UniqueKey,
} from './database-fault.ts';
export { publishEvents, type DatabaseEvents, type EventSubscriber } from './database-events.ts';
export { databaseTime, openDatabase, type Database, type DatabaseLocation, type Dialect } from './database.ts';
export { EventWorker, type EventWorkerOptions } from './event-worker.ts';
export { sqlErrors } from './errors.ts';
export { assertCompatible, assertNothingNewer, migrate, type Contraction, type MigrateOptions } from './migrate.ts';
export type { Migration } from './migration.ts';
export type { Pipeline, PipelineResult, Pipelines } from './postgres-pipeline.ts';
export { parsePostgresUrl } from './postgres-url.ts';
export { openSqliteFile, SQLITE_PRAGMAS } from './sqlite-dialect.ts';
