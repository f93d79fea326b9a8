import { assertRemovable, lockedUntilMs } from '../../domain/object-lock.ts';
import { storeErrors } from '../../errors.ts';
import type { EventName } from '../../domain/notifications/event-names.ts';
import type { WriteQuota } from '../../domain/ports/records.ts';
import type { NotifyRule } from '../../domain/ports/notifications.ts';
import type {
  ContentLocation,
  ObjectAttributes,
  ObjectChecksum,
  ObjectVersion,
  Versioning,
} from '../../domain/ports/records.ts';
import { fromChecksum, OBJECT_COLUMNS, toObjectVersion } from '../object-row.ts';
import { change, first, send, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { NULL_VERSION } from '../../domain/version-id.ts';
import { orderKeyAt, parseOrderKey, versionIdFor } from '../version-order.ts';
import { addUsage } from './bucket-rows.ts';
import { notify, type ChangeToTell } from './notify.ts';
import { assertQuota, usageUnder } from './quota-rows.ts';
import { releaseBlob, releaseContent, takeFromTrash } from './trash-rows.ts';

export interface StoredRow {
  orderKey: number;
  version: ObjectVersion;
}

export function* newestVersion(bucketId: number, key: string): Program<StoredRow | null> {
  const row = yield* first(
    `select ${OBJECT_COLUMNS} from object o where o.bucket_id = ? and o.key = ? order by o.order_key limit 1`,
    bucketId,
    key,
  );
  return row === undefined ? null : { orderKey: integer(row, 'order_key'), version: toObjectVersion(row) };
}

export function* findVersion(bucketId: number, key: string, versionId: string): Program<StoredRow | null> {
  const orderKey = versionId === NULL_VERSION ? null : parseOrderKey(versionId);
  if (orderKey === null && versionId !== NULL_VERSION) return null;
  const row =
    orderKey === null
      ? yield* first(
          `select ${OBJECT_COLUMNS} from object o where o.bucket_id = ? and o.key = ? and o.version_id = ?`,
          bucketId,
          key,
          versionId,
        )
      : yield* first(
          `select ${OBJECT_COLUMNS} from object o
           where o.bucket_id = ? and o.key = ? and o.order_key = ? and o.version_id = ?`,
          bucketId,
          key,
          orderKey,
          versionId,
        );
  return row === undefined ? null : { orderKey: integer(row, 'order_key'), version: toObjectVersion(row) };
}

export interface NewVersion {
  bucketId: number;
  key: string;
  nowMs: number;
  versionToken: string;
  deleteMarker: boolean;
  sizeBytes: number;
  etag: string;
  attributes: ObjectAttributes;
  checksum: ObjectChecksum | null;
  partCount: number | null;
  location: ContentLocation;
  trashDueAtMs: number;
  /** Name of the event, and the rules that match it. */
  eventName: EventName;
  notify?: NotifyRule | undefined;
  quota?: WriteQuota | undefined;
  /** The upload it comes from: the bytes of all its parts, and the parts that are left out. */
  upload?: { sizeBytes: number; leftOut: readonly { blobId: string; sizeBytes: number }[] };
  /** A copy that replaces its source and shares its bytes. */
  ontoItself?: boolean;
}

/**
 * Adds a version on top of a key and returns its id. In a versioned bucket it gets a new id; otherwise it becomes the
 * `null` version and replaces the previous one, whose bytes are released.
 */
export function* pushVersion(versioning: Versioning, newest: StoredRow | null, added: NewVersion): Program<string> {
  const orderKey = Math.min(orderKeyAt(added.nowMs), (newest?.orderKey ?? Number.MAX_SAFE_INTEGER) - 1);
  const versionId = versioning === 'enabled' ? versionIdFor(orderKey, added.versionToken) : NULL_VERSION;
  const before = yield* usageUnder(added.quota, added.bucketId);
  if (newest !== null) yield* makeRoom(versioning, newest, added);
  yield* insertVersion(orderKey, versionId, added);
  if (added.ontoItself === true) yield* takeFromTrash(added.location);
  yield* count(added);
  yield* assertQuota(added.quota, added.bucketId, before);
  yield* notify(added.notify, toChange(versioning === 'unversioned' ? null : versionId, added));
  return versionId;
}

/** Counts a completed upload as its object, and left-out parts as trash. */
function* count({ bucketId, deleteMarker, sizeBytes, upload, trashDueAtMs: dueAtMs }: NewVersion): Program<void> {
  for (const part of upload?.leftOut ?? []) {
    yield* releaseBlob(part.blobId, { bucketId, sizeBytes: part.sizeBytes, dueAtMs });
  }
  const added = deleteMarker ? { markers: 1 } : { objects: 1, bytes: sizeBytes };
  const ended = upload === undefined ? {} : { uploads: -1, uploadBytes: -upload.sizeBytes };
  yield* addUsage(bucketId, { ...added, ...ended });
}

function toChange(versionId: string | null, added: NewVersion): ChangeToTell {
  const { bucketId, key, eventName: name, nowMs: timeMs, sizeBytes, etag } = added;
  return { bucketId, key, name, timeMs, versionId, sizeBytes, etag };
}

function* makeRoom(versioning: Versioning, newest: StoredRow, { nowMs, trashDueAtMs }: NewVersion): Program<void> {
  const { bucketId, key, versionId } = newest.version;
  let replaced: StoredRow | null = null;
  if (versioning !== 'enabled') {
    replaced = versionId === NULL_VERSION ? newest : yield* findVersion(bucketId, key, NULL_VERSION);
    if (replaced !== null) {
      assertRemovable(replaced.version.attributes, nowMs, false);
      yield* removeRow(replaced, trashDueAtMs);
    }
  }
  if (replaced !== newest) yield* setLatest(newest, false);
}

/** Deletes a row, releases its bytes and updates the counters. The caller decides which version becomes current. */
export function* removeRow(row: StoredRow, trashDueAtMs: number): Program<void> {
  const { bucketId, key, deleteMarker, sizeBytes, location } = row.version;
  yield* send('delete from object where bucket_id = ? and key = ? and order_key = ?', bucketId, key, row.orderKey);
  yield* releaseContent(location, { bucketId, sizeBytes, dueAtMs: trashDueAtMs });
  yield* addUsage(bucketId, deleteMarker ? { markers: -1 } : { objects: -1, bytes: -sizeBytes });
}

export function* setLatest(row: StoredRow, isLatest: boolean): Program<void> {
  yield* send(
    'update object set is_latest = ? where bucket_id = ? and key = ? and order_key = ?',
    isLatest ? 1 : 0,
    row.version.bucketId,
    row.version.key,
    row.orderKey,
  );
}

/** The location of a copy: it shares blobs and manifests, and has inline bytes of its own. */
export function* shareContent(location: ContentLocation): Program<ContentLocation> {
  if (location.kind !== 'inline') return location;
  const [row] = yield* change(
    'insert into inline_content (data) select data from inline_content where id = ? returning id',
    location.inlineId,
  );
  if (row === undefined) throw storeErrors.DataLost();
  return { kind: 'inline', inlineId: integer(row, 'id') };
}

type VersionRow = Pick<
  NewVersion,
  | 'bucketId'
  | 'key'
  | 'nowMs'
  | 'deleteMarker'
  | 'sizeBytes'
  | 'etag'
  | 'attributes'
  | 'checksum'
  | 'partCount'
  | 'location'
>;

/** Adds the row of a current version. Everything else, such as counters, is the caller's. */
export function* insertVersion(orderKey: number, versionId: string, added: VersionRow): Program<void> {
  const { location } = added;
  yield* send(
    `insert into object (bucket_id, key, order_key, version_id, is_latest, delete_marker, size_bytes, etag,
       modified_at_ms, attributes, checksum, part_count, inline_id, blob_id, manifest_id, locked_until_ms)
     values (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    added.bucketId,
    added.key,
    orderKey,
    versionId,
    added.deleteMarker ? 1 : 0,
    added.sizeBytes,
    added.etag,
    added.nowMs,
    JSON.stringify(added.attributes),
    fromChecksum(added.checksum),
    added.partCount,
    location.kind === 'inline' ? location.inlineId : null,
    location.kind === 'blob' ? location.blobId : null,
    location.kind === 'manifest' ? location.manifestId : null,
    lockedUntilMs(added.attributes),
  );
}
