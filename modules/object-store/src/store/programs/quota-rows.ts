import { breachDetails, findBreach, type Demand, type QuotaScope, type Usage } from '@svc/quotas';
import { storeErrors } from '../../errors.ts';
import { storeQuotas } from '../../quotas.ts';
import type { BucketQuota, WriteQuota } from '../../domain/ports/records.ts';
import { first, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { tenantUsage } from './tenant-quota.ts';

interface BucketUsage {
  objects: number;
  bytes: number;
}

export interface UsageBefore {
  bucket: BucketUsage;
  /** Null where neither the workspace nor its owner is limited. */
  tenant: Record<QuotaScope, Usage> | null;
}

const TENANT_QUOTAS = [storeQuotas.stored_bytes, storeQuotas.stored_objects];

/** What a bucket, its workspace and its owner have now; not asked where nothing depends on it. */
export function* usageUnder(quota: WriteQuota | undefined, bucketId: number): Program<UsageBefore> {
  const tenant = quota?.tenant === undefined ? null : yield* tenantUsage(quota.tenant, TENANT_QUOTAS);
  const counted = quota?.bucket !== undefined || tenant !== null;
  return { bucket: counted ? yield* bucketUsage(bucketId) : { objects: 0, bytes: 0 }, tenant };
}

/**
 * After the counters were changed in this transaction, which on PostgreSQL also keeps every other writer of the bucket
 * waiting: so what is read is exact. What makes a bucket that is over its quota smaller is always allowed.
 */
export function* assertQuota(quota: WriteQuota | undefined, bucketId: number, before: UsageBefore): Program<void> {
  if (quota === undefined || (quota.bucket === undefined && before.tenant === null)) return;
  const after = yield* bucketUsage(bucketId);
  if (quota.bucket !== undefined) assertBucketQuota(quota.bucket, before.bucket, after);
  assertTenantQuota(quota, before.tenant, [
    [storeQuotas.stored_bytes, after.bytes - before.bucket.bytes],
    [storeQuotas.stored_objects, after.objects - before.bucket.objects],
  ]);
}

/** For bytes of a part: refuses early what could never be completed, and holds what open uploads take together. */
export function* assertRoomFor(
  quota: WriteQuota | undefined,
  bucketId: number,
  { addedBytes, replacedBytes }: { addedBytes: number; replacedBytes: number },
): Program<void> {
  if (quota === undefined) return;
  const { bucket, tenant } = yield* usageUnder(quota, bucketId);
  const maxBytes = quota.bucket?.maxBytes ?? null;
  if (maxBytes !== null && bucket.bytes + addedBytes > maxBytes) throw bucketFull('bytes', maxBytes);
  assertTenantQuota(quota, tenant, [[storeQuotas.stored_bytes, addedBytes - replacedBytes]]);
}

function* bucketUsage(bucketId: number): Program<BucketUsage> {
  const row = yield* first('select object_count, size_bytes from bucket_usage where bucket_id = ?', bucketId);
  if (row === undefined) return { objects: 0, bytes: 0 };
  return { objects: integer(row, 'object_count'), bytes: integer(row, 'size_bytes') };
}

function assertBucketQuota({ maxBytes, maxObjects }: BucketQuota, before: BucketUsage, after: BucketUsage): void {
  if (maxBytes !== null && after.bytes > maxBytes && after.bytes > before.bytes) throw bucketFull('bytes', maxBytes);
  if (maxObjects !== null && after.objects > maxObjects && after.objects > before.objects) {
    throw bucketFull('objects', maxObjects);
  }
}

function assertTenantQuota({ tenant }: WriteQuota, used: Record<QuotaScope, Usage> | null, demand: Demand): void {
  const breach = tenant === undefined || used === null ? null : findBreach(tenant, demand, used);
  if (breach !== null) {
    const remedy = 'Delete objects, or ask the operator to raise it (svc admin quota set)';
    throw storeErrors.QuotaExceeded({ details: { ...breachDetails(breach), remedy } });
  }
}

function bucketFull(quota: 'bytes' | 'objects', limit: number): Error {
  const remedy = 'Delete objects, or raise the quota in the settings of the bucket';
  return storeErrors.QuotaExceeded({ details: { quota, scope: 'bucket', limit, remedy } });
}
