import { assertRetentionChange, lockedUntilMs } from '../../domain/object-lock.ts';
import { storeErrors } from '../../errors.ts';
import type { ChangeAttributes } from '../../domain/ports/objects.ts';
import type { AttributeChanges, ObjectAttributes, ObjectVersion } from '../../domain/ports/records.ts';
import { claim, send, type Program } from '../program.ts';
import { openForChange } from './fork-rows.ts';
import { bucketLock, keyLock } from './locks.ts';
import { findVersion, newestVersion } from './version-rows.ts';

/** Changes neither the bytes nor the modification time. */
export function* changeAttributes(input: ChangeAttributes): Program<ObjectVersion> {
  const { bucketId, key, versionId, changes } = input;
  yield* claim(bucketLock(bucketId), keyLock(input));
  yield* openForChange(input);
  const row =
    versionId === undefined ? yield* newestVersion(bucketId, key) : yield* findVersion(bucketId, key, versionId);
  if (row === null) throw versionId === undefined ? storeErrors.NoSuchKey() : storeErrors.NoSuchVersion();
  if (row.version.deleteMarker) {
    throw versionId === undefined ? storeErrors.NoSuchKey() : storeErrors.MethodNotAllowed();
  }
  if (changes.retention !== undefined) {
    const { nowMs = 0, bypassGovernance = false } = input;
    assertRetentionChange(row.version.attributes.retention, changes.retention, nowMs, bypassGovernance);
  }
  const attributes = withChanges(row.version.attributes, changes);
  yield* send(
    'update object set attributes = ?, locked_until_ms = ? where bucket_id = ? and key = ? and order_key = ?',
    JSON.stringify(attributes),
    lockedUntilMs(attributes),
    bucketId,
    key,
    row.orderKey,
  );
  return { ...row.version, attributes };
}

function withChanges(attributes: ObjectAttributes, changes: AttributeChanges): ObjectAttributes {
  const changed: Record<string, unknown> = { ...attributes };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete changed[name];
    else if (value !== undefined) changed[name] = value;
  }
  return { ...changed, contentType: attributes.contentType };
}
