import type { ObjectLockDocument } from '../../domain/object-lock.ts';
import { breachDetails, findBreach, type Limits } from '@svc/quotas';
import { storeErrors } from '../../errors.ts';
import { storeQuotas } from '../../quotas.ts';
import type { CreateBucket, DeleteBucket } from '../../domain/ports/buckets.ts';
import type { MetadataCommands } from '../../domain/ports/metadata-store.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { all, change, first, lock, type Program } from '../program.ts';
import { integer, text } from '../row.ts';
import { putBucketDocument, setVersioning } from './bucket-document-programs.ts';
import { toBucket } from './bucket-rows.ts';
import { forgetDomainsOfBucket } from './custom-domain-commands.ts';
import { forgetNotificationsOfBucket } from './notification-commands.ts';
import { tenantUsage } from './tenant-quota.ts';
import { trashUpload } from './trash-rows.ts';
import { newestVersion, removeRow } from './version-rows.ts';

const POSTPONE_PURGE_MS = 86_400_000;

type Command<Name extends keyof MetadataCommands> = Parameters<MetadataCommands[Name]>[0];

export function* createBucket(input: CreateBucket): Program<BucketRecord> {
  yield* lock(`bucket-name/${input.name}`);
  yield* assertNameFree(input);
  yield* lock(`workspace/${input.workspaceUuid}`);
  yield* assertRoomForBucket(input.tenant);
  yield* change(
    'insert into tenant (workspace_uuid, created_at_ms) values (?, ?) on conflict (workspace_uuid) do nothing',
    input.workspaceUuid,
    input.nowMs,
  );
  yield* change(
    `insert into bucket (id, name, workspace_uuid, created_at_ms, state, versioning, encryption_mode, location_hint, settings)
     values (?, ?, ?, ?, 'active', 'unversioned', ?, ?, '{}')`,
    input.id,
    input.name,
    input.workspaceUuid,
    input.nowMs,
    input.encryptionMode,
    input.locationHint,
  );
  yield* change('insert into bucket_usage (bucket_id, object_count, size_bytes) values (?, 0, 0)', input.id);
  const objectLock = input.objectLock === true;
  if (objectLock) yield* enableObjectLock(input);
  return {
    id: input.id,
    name: input.name,
    workspaceUuid: input.workspaceUuid,
    createdAtMs: input.nowMs,
    state: 'active',
    deletedAtMs: null,
    purgeAtMs: null,
    versioning: objectLock ? 'enabled' : 'unversioned',
    encryptionMode: input.encryptionMode,
    locationHint: input.locationHint,
    configurationVersion: objectLock ? 2 : 0,
  };
}

/** The caller locks the name. Throws `BucketAlreadyOwnedByYou` or `BucketAlreadyExists`. */
export function* assertNameFree({ name, workspaceUuid }: Pick<CreateBucket, 'name' | 'workspaceUuid'>): Program<void> {
  const taken = yield* first('select workspace_uuid, state from bucket where name = ?', name);
  if (taken === undefined) return;
  const own = text(taken, 'workspace_uuid') === workspaceUuid;
  const deleted = text(taken, 'state') === 'soft-deleted';
  if (own && !deleted) throw storeErrors.BucketAlreadyOwnedByYou();
  throw storeErrors.BucketAlreadyExists({ details: own ? { soft_deleted: true } : {} }); // a hint for its owner only
}

function* assertRoomForBucket(tenant: Limits): Program<void> {
  const used = yield* tenantUsage(tenant, [storeQuotas.buckets]);
  const breach = used === null ? null : findBreach(tenant, [[storeQuotas.buckets, 1]], used);
  if (breach !== null) throw storeErrors.TooManyBuckets({ details: breachDetails(breach) });
}

function* enableObjectLock({ id, nowMs }: CreateBucket): Program<void> {
  const document: ObjectLockDocument = { defaultRetention: null };
  yield* setVersioning({ bucketId: id, versioning: 'enabled' });
  yield* putBucketDocument({ bucketId: id, name: 'object-lock', document: JSON.stringify(document), nowMs });
}

export function* deleteBucket(input: DeleteBucket): Program<void> {
  yield* lock(`bucket/${input.bucketId}`);
  const bucket = yield* first(`select versioning from bucket where id = ? and state = 'active'`, input.bucketId);
  if (bucket === undefined) throw storeErrors.NoSuchBucket();
  const object = yield* first('select 1 as found from object where bucket_id = ? limit 1', input.bucketId);
  if (object !== undefined) throw bucketNotEmpty(text(bucket, 'versioning') !== 'unversioned');
  const uploads = yield* all(
    'select upload_id from upload where bucket_id = ? and completed_at_ms is null',
    input.bucketId,
  );
  for (const upload of uploads) yield* trashUpload(text(upload, 'upload_id'), input.bucketId, input.trashDueAtMs);
  yield* forgetBucket(input.bucketId);
}

function bucketNotEmpty(keepsVersions: boolean): Error {
  const further = keepsVersions ? ' You must delete all versions in the bucket.' : '';
  return storeErrors.BucketNotEmpty({ details: { reason: `The bucket you tried to delete is not empty.${further}` } });
}

export function* softDeleteBucket(input: Command<'softDeleteBucket'>): Program<BucketRecord> {
  yield* lock(`bucket/${input.bucketId}`);
  if (yield* holdsLocked(input.bucketId, input.nowMs)) {
    throw storeErrors.InvalidBucketState({ details: { reason: 'it has versions that object lock protects' } });
  }
  const [row] = yield* change(
    `update bucket set state = 'soft-deleted', deleted_at_ms = ?, purge_at_ms = ?
     where id = ? and state = 'active' returning *`,
    input.nowMs,
    input.purgeAtMs,
    input.bucketId,
  );
  if (row === undefined) throw storeErrors.NoSuchBucket();
  return toBucket(row);
}

export function* restoreBucket(input: Command<'restoreBucket'>): Program<BucketRecord> {
  const found = yield* first(
    'select id, state from bucket where name = ? and workspace_uuid = ?',
    input.name,
    input.workspaceUuid,
  );
  if (found === undefined) throw storeErrors.NoSuchBucket({ details: { resource: input.name } });
  if (text(found, 'state') !== 'soft-deleted')
    throw storeErrors.InvalidBucketState({ details: { resource: input.name } });
  yield* lock(`bucket/${integer(found, 'id')}`);
  const [row] = yield* change(
    `update bucket set state = 'active', deleted_at_ms = null, purge_at_ms = null
     where id = ? and state = 'soft-deleted' and purge_at_ms > ? returning *`,
    integer(found, 'id'),
    input.nowMs,
  );
  if (row === undefined) throw storeErrors.NoSuchBucket({ details: { resource: input.name } });
  return toBucket(row);
}

export function* purgeBucket(input: Command<'purgeBucket'>): Program<boolean> {
  yield* lock(`bucket/${input.bucketId}`);
  const due = yield* first(
    `select id from bucket where id = ? and state = 'soft-deleted' and purge_at_ms <= ?`,
    input.bucketId,
    input.nowMs,
  );
  if (due === undefined) return true; // restored, or purged by another process
  if (yield* isForking(input.bucketId)) return true; // the next round tries again
  if (yield* holdsLocked(input.bucketId, input.nowMs)) return yield* postponePurge(input);
  const objects = yield* all('select key from object where bucket_id = ? limit ?', input.bucketId, input.limit);
  for (const object of objects) {
    const newest = yield* newestVersion(input.bucketId, text(object, 'key'));
    if (newest !== null) yield* removeRow(newest, input.trashDueAtMs);
  }
  const uploads = yield* all(
    'select upload_id from upload where bucket_id = ? and completed_at_ms is null limit ?',
    input.bucketId,
    input.limit,
  );
  for (const upload of uploads) yield* trashUpload(text(upload, 'upload_id'), input.bucketId, input.trashDueAtMs);
  if (objects.length === input.limit || uploads.length === input.limit) return false;
  yield* forgetBucket(input.bucketId);
  return true;
}

/** Whether object lock still protects a version. A bucket is purged only when nothing in it is locked. */
function* holdsLocked(bucketId: number, nowMs: number): Program<boolean> {
  const row = yield* first(
    'select 1 as found from object where bucket_id = ? and locked_until_ms > ? limit 1',
    bucketId,
    nowMs,
  );
  return row !== undefined;
}

/** Whether a fork still copies objects of the bucket. */
function* isForking(bucketId: number): Program<boolean> {
  const fork = yield* first(
    'select 1 as found from bucket_fork where source_id = ? and finished_at_ms is null limit 1',
    bucketId,
  );
  return fork !== undefined;
}

function* postponePurge({ bucketId, nowMs }: Command<'purgeBucket'>): Program<boolean> {
  yield* change('update bucket set purge_at_ms = ? where id = ?', nowMs + POSTPONE_PURGE_MS, bucketId);
  return true;
}

function* forgetBucket(bucketId: number): Program<void> {
  yield* forgetDomainsOfBucket(bucketId);
  yield* forgetNotificationsOfBucket(bucketId);
  yield* change('delete from bucket_usage where bucket_id = ?', bucketId);
  yield* change('delete from usage_history where bucket_id = ?', bucketId);
  yield* change('delete from bucket_document where bucket_id = ?', bucketId);
  yield* change('delete from bucket_fork_key where bucket_id = ?', bucketId);
  yield* change('delete from bucket_fork where bucket_id = ?', bucketId);
  yield* change('delete from bucket where id = ?', bucketId);
}
