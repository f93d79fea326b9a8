import type { Limits } from '@svc/quotas';
import type { BucketRecord, BucketUsage, EncryptionMode } from './ports/records.ts';
import { storeQuotas } from '../quotas.ts';
import { storeErrors } from '../errors.ts';
import { trashDueAt, type StoreDeps } from './store-deps.ts';

const DAY_MS = 86_400_000;
const DISCARD_BATCH = 256;
const DISCARDED_AT_ONCE = 16;

export interface NewBucket {
  name: string;
  workspaceUuid: string;
  encryptionMode?: EncryptionMode;
  locationHint?: string | null;
  objectLock?: boolean;
}

export interface BucketService {
  /** The first bucket of a workspace provisions its store. */
  create(bucket: NewBucket): Promise<BucketRecord>;
  /** What the workspace and its owner may store. The number of buckets defaults to the configured limit. */
  readLimits(workspaceUuid: string): Promise<Limits>;
  /** Throws `NoSuchBucket`. */
  get(name: string): Promise<BucketRecord>;
  /** Like `get`, but treats a bucket of another workspace as missing. */
  getOwn(name: string, workspaceUuid: string): Promise<BucketRecord>;
  list(workspaceUuid: string, page: BucketPage): Promise<readonly (BucketRecord & BucketUsage)[]>;
  usage(workspaceUuid: string): Promise<BucketUsage & { buckets: number }>;
  /** Deletes immediately and permanently. Throws `BucketNotEmpty`. */
  delete(bucket: BucketRecord): Promise<void>;
  /**
   * Hides the bucket. It can be restored until `purgeAtMs`. Throws `InvalidBucketState` if object lock protects its
   * contents.
   */
  softDelete(bucket: BucketRecord, retentionDays: number): Promise<BucketRecord>;
  /**
   * Deletes the bucket and its contents immediately and permanently; remaining cleanup runs in the background. Throws
   * like `softDelete`.
   */
  discard(bucket: BucketRecord): Promise<void>;
  restore(name: string, workspaceUuid: string): Promise<BucketRecord>;
  listDeleted(workspaceUuid: string): Promise<readonly BucketRecord[]>;
}

export interface BucketPage {
  prefix?: string;
  after?: string;
  limit: number;
}

export function createBucketService(deps: StoreDeps): BucketService {
  const { metadata, identifiers, config, clock } = deps;
  const get = async (name: string): Promise<BucketRecord> => {
    const bucket = await metadata.findBucket({ name });
    if (bucket === null) throw storeErrors.NoSuchBucket({ details: { resource: name } });
    return bucket;
  };
  const readLimits = async (workspaceUuid: string): Promise<Limits> => {
    const limits = await deps.quotaLimits.readLimits(workspaceUuid);
    const byDefault = { [storeQuotas.buckets.name]: config.limits.buckets_per_workspace };
    return { ...limits, workspace: { ...byDefault, ...limits.workspace } };
  };
  return {
    get,
    readLimits,
    getOwn: async (name, workspaceUuid) => {
      const bucket = await get(name);
      if (bucket.workspaceUuid !== workspaceUuid) throw storeErrors.NoSuchBucket({ details: { resource: name } });
      return bucket;
    },
    create: async (bucket) =>
      metadata.createBucket({
        id: identifiers.bucketId(),
        name: bucket.name,
        workspaceUuid: bucket.workspaceUuid,
        nowMs: clock.nowMs(),
        encryptionMode: bucket.encryptionMode ?? config.default_encryption,
        locationHint: bucket.locationHint ?? null,
        objectLock: bucket.objectLock ?? false,
        tenant: await readLimits(bucket.workspaceUuid),
      }),
    list: (workspaceUuid, { prefix = '', after = '', limit }) =>
      metadata.listBuckets({ workspaceUuid, prefix, after, limit }),
    usage: (workspaceUuid) => metadata.workspaceUsage({ workspaceUuid }),
    softDelete: (bucket, retentionDays) => {
      const purgeAtMs = clock.nowMs() + retentionDays * DAY_MS;
      return metadata.softDeleteBucket({ bucketId: bucket.id, nowMs: clock.nowMs(), purgeAtMs });
    },
    discard: async ({ id: bucketId }) => {
      const nowMs = clock.nowMs();
      await metadata.softDeleteBucket({ bucketId, nowMs, purgeAtMs: nowMs });
      // Small buckets are removed before the response. Maintenance finishes larger ones, whose names stay taken until
      // then.
      for (let batch = 0; batch < DISCARDED_AT_ONCE; batch += 1) {
        const input = { bucketId, nowMs, limit: DISCARD_BATCH, trashDueAtMs: trashDueAt(deps) };
        if (await metadata.purgeBucket(input)) return;
      }
    },
    restore: (name, workspaceUuid) => metadata.restoreBucket({ name, workspaceUuid, nowMs: clock.nowMs() }),
    listDeleted: (workspaceUuid) =>
      metadata.listDeletedBuckets({ workspaceUuid, nowMs: clock.nowMs(), limit: config.limits.buckets_per_workspace }),
    delete: (bucket) =>
      metadata.deleteBucket({ bucketId: bucket.id, nowMs: clock.nowMs(), trashDueAtMs: trashDueAt(deps) }),
  };
}
