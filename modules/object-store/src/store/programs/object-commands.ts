import { assertRemovable } from '../../domain/object-lock.ts';
import { storeErrors } from '../../errors.ts';
import type { DeletedObject, DeleteObject, PutObject } from '../../domain/ports/objects.ts';
import type { StoredVersion } from '../../domain/ports/records.ts';
import type { ContentLocation } from '../../domain/ports/records.ts';
import { change, claim, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { recordBlob } from './blob-programs.ts';
import { openForChange } from './fork-rows.ts';
import { bucketLock, keyLock } from './locks.ts';
import { notify } from './notify.ts';
import { findVersion, newestVersion, pushVersion, removeRow, setLatest, type StoredRow } from './version-rows.ts';
import { assertDeleteConditions, assertWriteConditions } from './write-conditions.ts';

export function* putObject(input: PutObject): Program<StoredVersion> {
  yield* claim(bucketLock(input.bucketId), keyLock(input));
  const versioning = yield* openForChange(input, input.attributes.encryption);
  const newest = yield* newestVersion(input.bucketId, input.key);
  assertWriteConditions(input.conditions, visible(newest));
  const location = yield* storeContent(input);
  const versionId = yield* pushVersion(versioning, newest, {
    bucketId: input.bucketId,
    key: input.key,
    nowMs: input.nowMs,
    versionToken: input.versionToken,
    deleteMarker: false,
    sizeBytes: input.sizeBytes,
    etag: input.etag,
    attributes: input.attributes,
    checksum: input.checksum,
    partCount: null,
    location,
    trashDueAtMs: input.trashDueAtMs,
    eventName: input.eventName ?? 'ObjectCreated:Put',
    notify: input.notify,
    quota: input.quota,
  });
  const { etag, sizeBytes, nowMs, checksum } = input;
  return { versionId, etag, sizeBytes, modifiedAtMs: nowMs, checksum };
}

export function* deleteObject(input: DeleteObject): Program<DeletedObject> {
  yield* claim(bucketLock(input.bucketId), keyLock(input));
  const versioning = yield* openForChange(input);
  if (input.versionId !== undefined) return yield* deleteVersion(input, input.versionId);
  const newest = yield* newestVersion(input.bucketId, input.key);
  if (newest === null && Object.keys(input.conditions).length > 0) return { versionId: null, deleteMarker: false };
  if (newest !== null) assertDeleteConditions(input.conditions, newest.version);
  if (versioning === 'unversioned') {
    if (newest !== null) {
      assertRemovable(newest.version.attributes, input.nowMs, false);
      yield* removeRow(newest, input.trashDueAtMs);
      yield* notifyRemoval(input, null);
    }
    return { versionId: null, deleteMarker: false };
  }
  const versionId = yield* pushVersion(versioning, newest, {
    bucketId: input.bucketId,
    key: input.key,
    nowMs: input.nowMs,
    versionToken: input.versionToken,
    deleteMarker: true,
    sizeBytes: 0,
    etag: '',
    attributes: { contentType: '' },
    checksum: null,
    partCount: null,
    location: { kind: 'empty' },
    trashDueAtMs: input.trashDueAtMs,
    eventName: input.expires === true ? 'LifecycleExpiration:DeleteMarkerCreated' : 'ObjectRemoved:DeleteMarkerCreated',
    notify: input.notify,
    // A delete marker that hides an object is exempt, so that a workspace over its quota can still delete.
    quota: visible(newest) === null ? input.quota : undefined,
  });
  return { versionId, deleteMarker: true };
}

function* deleteVersion(input: DeleteObject, versionId: string): Program<DeletedObject> {
  const row = yield* findVersion(input.bucketId, input.key, versionId);
  if (row === null) return { versionId, deleteMarker: false };
  assertDeleteConditions(input.conditions, row.version);
  assertRemovable(row.version.attributes, input.nowMs, input.bypassGovernance ?? false);
  yield* removeRow(row, input.trashDueAtMs);
  yield* notifyRemoval(input, versionId);
  if (row.version.isLatest) {
    const next = yield* newestVersion(input.bucketId, input.key);
    if (next !== null) yield* setLatest(next, true);
  }
  return { versionId, deleteMarker: row.version.deleteMarker };
}

function* notifyRemoval(input: DeleteObject, versionId: string | null): Program<void> {
  const { bucketId, key, nowMs: timeMs } = input;
  const name = input.expires === true ? 'LifecycleExpiration:Delete' : 'ObjectRemoved:Delete';
  yield* notify(input.notify, { bucketId, key, name, timeMs, versionId, sizeBytes: 0, etag: '' });
}

export function visible(row: StoredRow | null): { etag: string } | null {
  return row === null || row.version.deleteMarker ? null : row.version;
}

function* storeContent({ content, sizeBytes, nowMs }: PutObject): Program<ContentLocation> {
  if (content.kind === 'empty') return content;
  if (content.kind === 'blob') {
    yield* recordBlob(content, content.storedBytes ?? sizeBytes, nowMs);
    return { kind: 'blob', blobId: content.blobId };
  }
  const rows = yield* change('insert into inline_content (data) values (?) returning id', content.data);
  const [row] = rows;
  if (row === undefined) throw storeErrors.InternalError();
  return { kind: 'inline', inlineId: integer(row, 'id') };
}
