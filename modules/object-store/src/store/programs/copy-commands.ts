import { storeErrors } from '../../errors.ts';
import type { CopyObject, SourceVersion } from '../../domain/ports/copy-commands.ts';
import type { StoredVersion } from '../../domain/ports/records.ts';
import type { ObjectVersion } from '../../domain/ports/records.ts';
import { claim, type Program } from '../program.ts';
import { openForChange } from './fork-rows.ts';
import { bucketLock, keyLock } from './locks.ts';
import { visible } from './object-commands.ts';
import { findVersion, newestVersion, pushVersion, shareContent } from './version-rows.ts';
import { assertWriteConditions } from './write-conditions.ts';

export function* copyObject(input: CopyObject): Program<StoredVersion> {
  const { source, bucketId, key, nowMs, trashDueAtMs } = input;
  yield* claim(bucketLock(bucketId), keyLock(source), keyLock(input));
  const versioning = yield* openForChange(input, input.attributes.encryption);
  const version = yield* unchangedSource(source);
  const newest = yield* newestVersion(bucketId, key);
  assertWriteConditions(input.conditions, visible(newest));
  const location = yield* shareContent(version.location);
  const { etag, sizeBytes, partCount } = version;
  const versionId = yield* pushVersion(versioning, newest, {
    bucketId,
    key,
    nowMs,
    versionToken: input.versionToken,
    deleteMarker: false,
    sizeBytes,
    etag,
    attributes: input.attributes,
    checksum: input.checksum,
    partCount,
    location,
    trashDueAtMs,
    eventName: 'ObjectCreated:Copy',
    notify: input.notify,
    quota: input.quota,
    // Replacing the row released bytes that the new row shares.
    ontoItself: source.bucketId === bucketId && source.key === key,
  });
  return { versionId, etag, sizeBytes, modifiedAtMs: nowMs, checksum: input.checksum };
}

/** While the source's key is locked, its bytes cannot be released. */
export function* unchangedSource(source: SourceVersion): Program<ObjectVersion> {
  const row = yield* findVersion(source.bucketId, source.key, source.versionId);
  const version = row?.version;
  const same =
    version !== undefined &&
    !version.deleteMarker &&
    version.etag === source.etag &&
    version.sizeBytes === source.sizeBytes &&
    version.modifiedAtMs === source.modifiedAtMs;
  if (!same) throw storeErrors.OperationAborted();
  return version;
}
