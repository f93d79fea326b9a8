import type { DeleteConditions } from './ports/delete-conditions.ts';
import { storeErrors } from '../errors.ts';
import type { DeletedObject, FoundObject, ListObjects, ObjectPage } from './ports/objects.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import type { ListObjectVersions, VersionPage } from './ports/version-listing.ts';
import type { BucketRecord, ObjectAttributes } from './ports/records.ts';
import type { EventOrigin } from './ports/notifications.ts';
import type { BucketConfigurations } from './bucket-configurations.ts';
import type { PendingContent } from './content/pending-content.ts';
import type { EventName } from './notifications/event-names.ts';
import { trashDueAt, type StoreDeps } from './store-deps.ts';
import { readWriteRules } from './write-rules.ts';
import { writeSealed } from './write-sealed.ts';

export interface NewObject {
  bucket: BucketRecord;
  key: string;
  /** Its bytes are removed if the commit is refused. */
  content: PendingContent;
  attributes: ObjectAttributes;
  conditions?: WriteConditions;
  /** For notifications. Defaults to an empty origin and `ObjectCreated:Put`. */
  origin?: EventOrigin;
  eventName?: EventName;
}

export interface ObjectName {
  bucket: BucketRecord;
  key: string;
  versionId?: string;
}

export interface DeleteOptions {
  /** Also deletes a version retained in governance mode. */
  bypassGovernance?: boolean;
  origin?: EventOrigin;
  /** Deleted by a lifecycle rule. */
  expires?: boolean;
}

export interface ObjectService {
  /**
   * Resolves once bytes and row are on stable storage. Throws `PreconditionFailed` and `QuotaExceeded`.
   */
  put(object: NewObject): Promise<StoredVersion>;
  /** Throws `NoSuchKey` or `NoSuchVersion`. The details include `deleteMarker` if one hides the key. */
  find(name: ObjectName): Promise<FoundObject>;
  /** Throws `AccessDenied` for a version that object lock protects. */
  delete(name: ObjectName, conditions?: DeleteConditions, options?: DeleteOptions): Promise<DeletedObject>;
  list(bucket: BucketRecord, page: Omit<ListObjects, 'bucketId' | 'versioned'>): Promise<ObjectPage>;
  listVersions(bucket: BucketRecord, page: Omit<ListObjectVersions, 'bucketId'>): Promise<VersionPage>;
}

export function createObjectService(deps: StoreDeps, configurations: BucketConfigurations): ObjectService {
  const { metadata, identifiers, secrets, clock } = deps;
  return {
    put: ({ bucket, content: pending, origin, ...object }) =>
      pending.commit(async (content) => {
        const { key, attributes, conditions = {} } = object;
        const rules = await readWriteRules(configurations, deps.quotaLimits, bucket, key, origin);
        const put = {
          ...object,
          ...rules,
          bucketId: bucket.id,
          nowMs: clock.nowMs(),
          versionToken: identifiers.versionToken(),
          content,
          sizeBytes: pending.sizeBytes,
          etag: pending.etag,
          checksum: pending.checksum,
          conditions,
          trashDueAtMs: trashDueAt(deps),
        };
        return await writeSealed(secrets, attributes, (sealed) => metadata.putObject({ ...put, attributes: sealed }));
      }),
    find: async (name) => {
      const { bucket, key, versionId } = name;
      const found = await metadata.findObject({
        bucketId: bucket.id,
        key,
        ...(versionId === undefined ? {} : { versionId }),
      });
      return assertVisible(name, found);
    },
    delete: async ({ bucket, key, versionId }, conditions = {}, options = {}) => {
      const { bypassGovernance = false, expires = false, origin } = options;
      const { notify, quota } = await readWriteRules(configurations, deps.quotaLimits, bucket, key, origin);
      return await metadata.deleteObject({
        bucketId: bucket.id,
        key,
        nowMs: clock.nowMs(),
        versionToken: identifiers.versionToken(),
        trashDueAtMs: trashDueAt(deps),
        conditions,
        bypassGovernance,
        expires,
        quota,
        ...(notify === undefined ? {} : { notify }),
        ...(versionId === undefined ? {} : { versionId }),
      });
    },
    list: (bucket, page) =>
      metadata.listObjects({ ...page, bucketId: bucket.id, versioned: bucket.versioning !== 'unversioned' }),
    listVersions: (bucket, page) => metadata.listObjectVersions({ ...page, bucketId: bucket.id }),
  };
}

function assertVisible(name: ObjectName, found: FoundObject | null): FoundObject {
  if (found === null) {
    if (name.versionId === undefined) throw storeErrors.NoSuchKey({ details: { key: name.key } });
    throw storeErrors.NoSuchVersion({ details: { key: name.key, versionId: name.versionId } });
  }
  if (!found.version.deleteMarker) return found;
  const details = { key: name.key, deleteMarker: true, versionId: found.version.versionId };
  if (name.versionId === undefined) throw storeErrors.NoSuchKey({ details });
  throw storeErrors.MethodNotAllowed({ details });
}
