import { storeErrors } from '../../errors.ts';
import type { QuotaLimits } from '../../ports/records.ts';
import { first, type Program } from '../program.ts';
import { integer } from '../row.ts';

interface Usage {
  objects: number;
  bytes: number;
}

/** What a bucket has now; not asked where nothing depends on it. */
export function* usageUnder(quota: QuotaLimits | undefined, bucketId: number): Program<Usage> {
  if (quota === undefined) return { objects: 0, bytes: 0 };
  const row = yield* first('select object_count, size_bytes from bucket_usage where bucket_id = ?', bucketId);
  if (row === undefined) return { objects: 0, bytes: 0 };
  return { objects: integer(row, 'object_count'), bytes: integer(row, 'size_bytes') };
}

/**
 * After the counters were changed in this transaction, which on PostgreSQL also keeps every other writer of the bucket
 * waiting: so what is read is exact. What makes a bucket that is over its quota smaller is always allowed.
 */
export function* assertQuota(quota: QuotaLimits | undefined, bucketId: number, before: Usage): Program<void> {
  if (quota === undefined) return;
  const { maxBytes, maxObjects } = quota;
  const after = yield* usageUnder(quota, bucketId);
  if (maxBytes !== null && after.bytes > maxBytes && after.bytes > before.bytes) {
    throw storeErrors.QuotaExceeded({ details: { quota: 'bytes', limit: maxBytes } });
  }
  if (maxObjects !== null && after.objects > maxObjects && after.objects > before.objects) {
    throw storeErrors.QuotaExceeded({ details: { quota: 'objects', limit: maxObjects } });
  }
}

/** For bytes that do not count yet: refuses early what could never be completed. */
export function* assertRoomFor(quota: QuotaLimits | undefined, bucketId: number, bytes: number): Program<void> {
  if (quota === undefined || quota.maxBytes === null) return;
  const usage = yield* usageUnder(quota, bucketId);
  if (usage.bytes + bytes > quota.maxBytes) {
    throw storeErrors.QuotaExceeded({ details: { quota: 'bytes', limit: quota.maxBytes } });
  }
}
