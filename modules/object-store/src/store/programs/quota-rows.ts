import { breachDetails, findBreach, type Demand, type QuotaScope, type Usage } from '@svc/quotas';
import { storeErrors } from '../../errors.ts';
import { storeQuotas } from '../../quotas.ts';
import type { BucketQuota, WriteQuota } from '../../domain/ports/records.ts';
import { first, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { tenantUsage } from './tenant-quota.ts';

/** What a bucket's objects use. */
export interface BucketUsage {
  /** Counts toward the bucket's quota: object versions. */
  objects: number;
  bytes: number;
  /** Counts toward the workspace's quota: also delete markers, open uploads and the trash. */
  tenantObjects: number;
  tenantBytes: number;
}

const NOTHING: BucketUsage = { objects: 0, bytes: 0, tenantObjects: 0, tenantBytes: 0 };

export interface UsageBefore {
  bucket: BucketUsage;
  /** Null if neither the workspace nor its owner has a limit. */
  tenant: Record<QuotaScope, Usage> | null;
}

/** The quotas of a workspace and its owner that every write counts toward. */
export const TENANT_QUOTAS = [storeQuotas.stored_bytes, storeQuotas.stored_objects];

/** Reads the current usage of a bucket, its workspace and its owner, as far as the quota needs it. */
export function* usageUnder(quota: WriteQuota | undefined, bucketId: number): Program<UsageBefore> {
  const tenant = quota?.tenant === undefined ? null : yield* tenantUsage(quota.tenant, TENANT_QUOTAS);
  const counted = quota?.bucket !== undefined || tenant !== null;
  return { bucket: counted ? yield* bucketUsage(bucketId) : NOTHING, tenant };
}

/**
 * Call after the counters were changed in this transaction, which on PostgreSQL blocks other writers of the bucket, so
 * that the usage read is exact. Changes that shrink a bucket over its quota are always allowed.
 */
export function* assertQuota(quota: WriteQuota | undefined, bucketId: number, before: UsageBefore): Program<void> {
  if (quota === undefined || (quota.bucket === undefined && before.tenant === null)) return;
  const after = yield* bucketUsage(bucketId);
  if (quota.bucket !== undefined) assertBucketQuota(quota.bucket, before.bucket, after);
  assertTenantQuota(quota, before.tenant, [
    [storeQuotas.stored_bytes, after.tenantBytes - before.bucket.tenantBytes],
    [storeQuotas.stored_objects, after.tenantObjects - before.bucket.tenantObjects],
  ]);
}

/** Rejects a part early if its upload could never be completed. */
export function assertPartFits(quota: WriteQuota | undefined, { bucket }: UsageBefore, addedBytes: number): void {
  const maxBytes = quota?.bucket?.maxBytes ?? null;
  if (maxBytes !== null && bucket.bytes + addedBytes > maxBytes) throw bucketFull('bytes', maxBytes);
}

export function* bucketUsage(bucketId: number): Program<BucketUsage> {
  const row = yield* first(
    `select u.object_count, u.size_bytes, u.object_count + u.marker_count + u.upload_count as tenant_objects,
       u.size_bytes + u.upload_bytes + coalesce(t.trash_bytes, 0) as tenant_bytes
     from bucket_usage u join bucket b on b.id = u.bucket_id
       left join tenant t on t.workspace_uuid = b.workspace_uuid where u.bucket_id = ?`,
    bucketId,
  );
  if (row === undefined) return NOTHING;
  return {
    objects: integer(row, 'object_count'),
    bytes: integer(row, 'size_bytes'),
    tenantObjects: integer(row, 'tenant_objects'),
    tenantBytes: integer(row, 'tenant_bytes'),
  };
}

function assertBucketQuota({ maxBytes, maxObjects }: BucketQuota, before: BucketUsage, after: BucketUsage): void {
  if (maxBytes !== null && after.bytes > maxBytes && after.bytes > before.bytes) throw bucketFull('bytes', maxBytes);
  if (maxObjects !== null && after.objects > maxObjects && after.objects > before.objects) {
    throw bucketFull('objects', maxObjects);
  }
}

function assertTenantQuota({ tenant }: WriteQuota, used: Record<QuotaScope, Usage> | null, demand: Demand): void {
  const breach = tenant === undefined || used === null ? null : findBreach(tenant, demand, used);
  if (breach !== null) throw quotaBreach(breach);
}

/** The error of a workspace or owner over its quota. */
export function quotaBreach(breach: Parameters<typeof breachDetails>[0]): Error {
  const remedy =
    'Delete objects, abort unfinished uploads and empty the trash, or ask the operator to raise it (svc admin quota set)';
  return storeErrors.QuotaExceeded({ details: { ...breachDetails(breach), remedy } });
}

function bucketFull(quota: 'bytes' | 'objects', limit: number): Error {
  const remedy = 'Delete objects, or raise the quota in the settings of the bucket';
  return storeErrors.QuotaExceeded({ details: { quota, scope: 'bucket', limit, remedy } });
}
