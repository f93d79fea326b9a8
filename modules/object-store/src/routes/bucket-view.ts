import { Type, type Static } from 'typebox';
import { readSettings } from '../domain/settings/bucket-settings.ts';
import type { BucketRecord, BucketUsage } from '../domain/ports/records.ts';
import { toTimestamp } from './envelope.ts';
import { REGION, type ManagementDeps } from './management-deps.ts';
import { nullableText, nullableTimestamp, timestamp } from './schemas.ts';

export const encryptionMode = Type.Union([Type.Literal('none'), Type.Literal('sse-s3')]);

export const bucketView = Type.Object({
  name: Type.String(),
  created_at: timestamp,
  region: Type.String(),
  location_hint: nullableText,
  encryption_mode: encryptionMode,
  versioning: Type.Union([Type.Literal('unversioned'), Type.Literal('enabled'), Type.Literal('suspended')]),
  publicDefault: Type.Boolean(),
  object_count: Type.Integer(),
  size_bytes: Type.Integer(),
  soft_delete: Type.Object({ enabled: Type.Boolean(), retention_days: Type.Integer() }),
  custom_domains: Type.Array(Type.String(), {
    description: 'All registered domains, including those that are not active yet',
  }),
  state: Type.Literal('active'),
});

export const deletedBucketView = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal('soft-deleted'), Type.Literal('deleted')]),
  created_at: timestamp,
  deleted_at: timestamp,
  purge_at: nullableTimestamp,
  restorable: Type.Boolean(),
});

export type BucketView = Static<typeof bucketView>;
export type DeletedBucketView = Static<typeof deletedBucketView>;

/** Configurations read in parallel. */
const AT_A_TIME = 32;

/** A workspace's buckets as the management API returns them, including settings and domains. */
export async function toBucketViews(
  { services, domains }: Pick<ManagementDeps, 'services' | 'domains'>,
  workspaceUuid: string,
  found: readonly (BucketRecord & BucketUsage)[],
): Promise<BucketView[]> {
  const [first] = found;
  if (first === undefined) return [];
  const hostnames = new Map<number, string[]>();
  for (const domain of await domains.service.list(workspaceUuid, found.length === 1 ? first : null)) {
    hostnames.set(domain.bucketId, [...(hostnames.get(domain.bucketId) ?? []), domain.hostname]);
  }
  const view = async (bucket: BucketRecord & BucketUsage): Promise<BucketView> => {
    const configuration = await services.configurations.of(bucket);
    const settings = readSettings(configuration, services.deps.config.soft_delete_days);
    return {
      name: bucket.name,
      created_at: toTimestamp(bucket.createdAtMs),
      region: REGION,
      location_hint: bucket.locationHint,
      encryption_mode: bucket.encryptionMode,
      versioning: bucket.versioning,
      publicDefault: settings.publicDefault,
      object_count: bucket.objectCount,
      size_bytes: bucket.sizeBytes,
      soft_delete: { enabled: settings.softDelete.enabled, retention_days: settings.softDelete.retentionDays },
      custom_domains: hostnames.get(bucket.id) ?? [],
      state: 'active',
    };
  };
  const views: BucketView[] = [];
  for (let start = 0; start < found.length; start += AT_A_TIME) {
    views.push(...(await Promise.all(found.slice(start, start + AT_A_TIME).map(view))));
  }
  return views;
}

/** A deleted bucket that can be restored until `purge_at`. */
export function toDeletedBucketView(bucket: BucketRecord): DeletedBucketView {
  return {
    name: bucket.name,
    state: 'soft-deleted',
    created_at: toTimestamp(bucket.createdAtMs),
    deleted_at: toTimestamp(bucket.deletedAtMs ?? 0),
    purge_at: bucket.purgeAtMs === null ? null : toTimestamp(bucket.purgeAtMs),
    restorable: true,
  };
}

/** A bucket deleted at once and permanently. */
export function toGoneBucketView(bucket: BucketRecord, nowMs: number): DeletedBucketView {
  return {
    name: bucket.name,
    state: 'deleted',
    created_at: toTimestamp(bucket.createdAtMs),
    deleted_at: toTimestamp(nowMs),
    purge_at: null,
    restorable: false,
  };
}
