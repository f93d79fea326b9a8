import type { BucketRecord, BucketUsage } from '../ports/records.ts';
import { toTimestamp } from './envelope.ts';
import { REGION } from './management-parts.ts';

/** A bucket as the management API shows it. */
export function toBucketView(bucket: BucketRecord & BucketUsage, retentionDays: number): Record<string, unknown> {
  return {
    name: bucket.name,
    created_at: toTimestamp(bucket.createdAtMs),
    region: REGION,
    location_hint: bucket.locationHint,
    encryption_mode: bucket.encryptionMode,
    versioning: bucket.versioning,
    publicDefault: false,
    object_count: bucket.objectCount,
    size_bytes: bucket.sizeBytes,
    soft_delete: { enabled: true, retention_days: retentionDays },
    custom_domains: [],
    state: bucket.state,
  };
}

export function toDeletedBucketView(bucket: BucketRecord): Record<string, unknown> {
  return {
    name: bucket.name,
    state: bucket.state,
    created_at: toTimestamp(bucket.createdAtMs),
    deleted_at: bucket.deletedAtMs === null ? null : toTimestamp(bucket.deletedAtMs),
    purge_at: bucket.purgeAtMs === null ? null : toTimestamp(bucket.purgeAtMs),
    restorable: true,
  };
}
