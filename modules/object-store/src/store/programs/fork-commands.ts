import { breachDetails, findBreach, type Demand } from '@svc/quotas';
import { storeErrors } from '../../errors.ts';
import { storeQuotas } from '../../quotas.ts';
import type { ForkBucket } from '../../domain/ports/bucket-forks.ts';
import type { MetadataCommands } from '../../domain/ports/metadata-store.ts';
import type { BucketRecord, BucketUsage } from '../../domain/ports/records.ts';
import { change, first, lock, send, type Program, type Row } from '../program.ts';
import { integer, text } from '../row.ts';
import { assertNameFree } from './bucket-commands.ts';
import { toBucket } from './bucket-rows.ts';
import { copyKeys } from './fork-copies.ts';
import { quotaBreach } from './quota-rows.ts';
import { tenantUsage } from './tenant-quota.ts';

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];

const QUOTAS = [storeQuotas.buckets, storeQuotas.stored_bytes, storeQuotas.stored_objects];

export function* forkBucket(input: ForkBucket): Program<BucketRecord> {
  const { id, name, sourceId, nowMs } = input;
  yield* lock(`bucket-name/${name}`);
  yield* assertNameFree(input);
  yield* lock(`bucket/${sourceId}`); // writers of the source are before the fork or after it
  const source = yield* first(`select * from bucket where id = ? and state = 'active'`, sourceId);
  if (source === undefined) throw storeErrors.NoSuchBucket();
  yield* lock(`workspace/${input.workspaceUuid}`);
  const usage = yield* currentUsage(source);
  yield* assertRoomForFork(input, usage);
  const rows = yield* change(
    `insert into bucket (id, name, workspace_uuid, created_at_ms, state, versioning, encryption_mode, location_hint,
       settings, configuration_version)
     select cast(? as bigint), cast(? as text), workspace_uuid, cast(? as bigint), 'forking', versioning, encryption_mode, location_hint, '{}', 1
     from bucket where id = ? returning *`,
    id,
    name,
    nowMs,
    sourceId,
  );
  const [row] = rows;
  if (row === undefined) throw storeErrors.InternalError();
  yield* send(
    `insert into bucket_document (bucket_id, name, document, updated_at_ms)
     select cast(? as bigint), name, document, cast(? as bigint) from bucket_document where bucket_id = ? and name = 'encryption'`,
    id,
    nowMs,
    sourceId,
  );
  yield* send(
    'insert into bucket_usage (bucket_id, object_count, size_bytes) values (?, ?, ?)',
    id,
    usage.objectCount,
    usage.sizeBytes,
  );
  yield* send(
    `insert into bucket_fork (bucket_id, source_id, source_name, started_at_ms, copied_through, copied_count, copied_bytes)
     values (?, ?, ?, ?, '', 0, 0)`,
    id,
    sourceId,
    text(source, 'name'),
    nowMs,
  );
  return toBucket(row);
}

/** Of current objects only. Without versions, the counters know it. */
function* currentUsage(source: Row): Program<BucketUsage> {
  const bucketId = integer(source, 'id');
  const counted =
    text(source, 'versioning') === 'unversioned'
      ? yield* first('select object_count, size_bytes from bucket_usage where bucket_id = ?', bucketId)
      : yield* first(
          `select count(*) as object_count, cast(coalesce(sum(size_bytes), 0) as bigint) as size_bytes from object
           where bucket_id = ? and is_latest = 1 and delete_marker = 0`,
          bucketId,
        );
  if (counted === undefined) return { objectCount: 0, sizeBytes: 0 };
  return { objectCount: integer(counted, 'object_count'), sizeBytes: integer(counted, 'size_bytes') };
}

function* assertRoomForFork({ tenant }: ForkBucket, { objectCount, sizeBytes }: BucketUsage): Program<void> {
  const used = yield* tenantUsage(tenant, QUOTAS);
  if (used === null) return;
  const tooMany = findBreach(tenant, [[storeQuotas.buckets, 1]], used);
  if (tooMany !== null) throw storeErrors.TooManyBuckets({ details: breachDetails(tooMany) });
  const stored: Demand = [
    [storeQuotas.stored_bytes, sizeBytes],
    [storeQuotas.stored_objects, objectCount],
  ];
  const breach = findBreach(tenant, stored, used);
  if (breach !== null) throw quotaBreach(breach);
}

/** Copies the next keys. True once nothing is left to do. */
export function* copyToFork({ bucketId, limit, nowMs }: Command<'copyToFork'>): Program<boolean> {
  yield* lock(`bucket/${bucketId}`);
  const known = yield* findOpenFork(bucketId);
  if (known === null) return true;
  yield* lock(`bucket/${known.sourceId}`); // no writer is between reading the position and changing a row
  const fork = yield* findOpenFork(bucketId);
  if (fork === null) return true;
  const page = yield* first(
    `select max(key) as last_key, count(*) as count from (
       select key from object {index object_listed}
       where bucket_id = ? and is_latest = 1 and delete_marker = 0 and key > ? order by key limit ?) as page`,
    fork.sourceId,
    fork.through,
    limit,
  );
  const count = page === undefined ? 0 : integer(page, 'count');
  if (page === undefined || count === 0) return yield* finishFork(fork, nowMs);
  const range = { ...fork, through: text(page, 'last_key'), after: fork.through };
  yield* copyKeys(range);
  const copied = yield* countRows(fork, range.through);
  if (count < limit) return yield* finishFork({ ...range, ...copied }, nowMs);
  yield* send(
    'update bucket_fork set copied_through = ?, copied_count = ?, copied_bytes = ? where bucket_id = ?',
    range.through,
    copied.objectCount,
    copied.sizeBytes,
    bucketId,
  );
  return false;
}

/** Gives a fork up. False if it is complete already, or gone. */
export function* abandonFork({ bucketId, nowMs }: Command<'abandonFork'>): Program<boolean> {
  yield* lock(`bucket/${bucketId}`);
  const fork = yield* findOpenFork(bucketId);
  if (fork === null) return false;
  yield* change(
    `update bucket set state = 'soft-deleted', deleted_at_ms = ?, purge_at_ms = ? where id = ?`,
    nowMs,
    nowMs,
    bucketId,
  );
  yield* endFork(fork, nowMs);
  return true;
}

function* finishFork(fork: OpenFork, nowMs: number): Program<boolean> {
  yield* change(`update bucket set state = 'active' where id = ?`, fork.bucketId);
  yield* endFork(fork, nowMs);
  return true;
}

/** Keys that changed in the source are behind the position, and uncounted. */
function* endFork(fork: OpenFork, nowMs: number): Program<void> {
  const { objectCount, sizeBytes } = yield* countRows(fork, null);
  yield* send(
    'update bucket_usage set object_count = ?, size_bytes = ? where bucket_id = ?',
    objectCount,
    sizeBytes,
    fork.bucketId,
  );
  yield* send(
    'update bucket_fork set finished_at_ms = ?, copied_count = ?, copied_bytes = ? where bucket_id = ?',
    nowMs,
    objectCount,
    sizeBytes,
    fork.bucketId,
  );
  yield* send('delete from bucket_fork_key where bucket_id = ?', fork.bucketId);
}

/** Adds the rows behind the position, up to a key or to the end, to those that were counted. */
function* countRows(fork: OpenFork, through: string | null): Program<BucketUsage> {
  const counted = `select count(*) as object_count, cast(coalesce(sum(size_bytes), 0) as bigint) as size_bytes
    from object where bucket_id = ? and key > ?`;
  const row =
    through === null
      ? yield* first(counted, fork.bucketId, fork.through)
      : yield* first(`${counted} and key <= ?`, fork.bucketId, fork.through, through);
  if (row === undefined) return fork;
  return {
    objectCount: fork.objectCount + integer(row, 'object_count'),
    sizeBytes: fork.sizeBytes + integer(row, 'size_bytes'),
  };
}

/** A fork under way, and what was copied up to the key `through`. */
interface OpenFork extends BucketUsage {
  bucketId: number;
  sourceId: number;
  through: string;
}

function* findOpenFork(bucketId: number): Program<OpenFork | null> {
  const row = yield* first(
    `select f.source_id, f.copied_through, f.copied_count, f.copied_bytes from bucket_fork f
       join bucket b on b.id = f.bucket_id
     where f.bucket_id = ? and f.finished_at_ms is null and b.state = 'forking'`,
    bucketId,
  );
  if (row === undefined) return null;
  return {
    bucketId,
    sourceId: integer(row, 'source_id'),
    through: text(row, 'copied_through'),
    objectCount: integer(row, 'copied_count'),
    sizeBytes: integer(row, 'copied_bytes'),
  };
}
