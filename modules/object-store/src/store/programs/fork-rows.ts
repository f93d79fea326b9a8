import type { ObjectAttributes, ObjectEncryption, Versioning } from '../../domain/ports/records.ts';
import { COPIED_CLOSED_KEY } from '../../domain/ports/key-ring.ts';
import { all, change, first, lock, send, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { openBucket } from './bucket-rows.ts';
import { isSealedClosed, OPEN_FROM, STORE_KEYS_LOCK } from './key-ring-programs.ts';
import { insertVersion, newestVersion, shareContent, type StoredRow } from './version-rows.ts';

/**
 * Opens a bucket to change a key of it; the caller claims `bucketLock` and `keyLock`. Forks under way get the current
 * object of the key first, so that they show the bucket as it was when they began. Throws like `openBucket`.
 */
export function* openForChange(
  { bucketId, key }: { bucketId: number; key: string },
  encryption?: ObjectEncryption,
): Program<Versioning> {
  const { versioning, isForking } = yield* openBucket(bucketId, encryption);
  if (isForking) yield* preserve(bucketId, key);
  return versioning;
}

function* preserve(bucketId: number, key: string): Program<void> {
  const forks = yield* all(
    'select bucket_id from bucket_fork where source_id = ? and finished_at_ms is null and copied_through < ?',
    bucketId,
    key,
  );
  for (const fork of forks) {
    const forkId = integer(fork, 'bucket_id');
    const noted = yield* change(
      'insert into bucket_fork_key (bucket_id, key) values (?, ?) on conflict do nothing returning bucket_id',
      forkId,
      key,
    );
    if (noted.length === 0) continue;
    const closedBelow = yield* lockClosedKeys();
    const newest = yield* newestVersion(bucketId, key);
    if (newest !== null) yield* copyObjectRow(forkId, newest, closedBelow);
  }
}

/** Copies a current object with its time and version, as `CopyObject` would: without its ACL and locks. */
export function* copyObjectRow(
  forkId: number,
  { orderKey, version }: StoredRow,
  closedBelow: number | null,
): Program<void> {
  if (version.deleteMarker) return;
  const { accessControlList: _acl, retention: _retention, legalHold: _hold, ...attributes } = version.attributes;
  const location = yield* shareContent(version.location);
  const { versionId, modifiedAtMs: nowMs } = version;
  yield* insertVersion(orderKey, versionId, { ...version, bucketId: forkId, nowMs, attributes, location });
  yield* noteClosedKey(attributes, closedBelow);
}

/**
 * While keys are closed, keeps them from being removed until the commit, and returns the lowest one that is not closed.
 * Call before the rows are read.
 */
export function* lockClosedKeys(): Program<number | null> {
  const closed = yield* first('select 1 as found from store_key where closed = 1 limit 1');
  if (closed === undefined) return null;
  yield* lock(STORE_KEYS_LOCK);
  const row = yield* first(`select ${OPEN_FROM}`);
  return row === undefined ? null : integer(row, 'open_from');
}

/** A rotation that has passed the copy already would otherwise remove its key. */
export function* noteClosedKey({ encryption }: ObjectAttributes, closedBelow: number | null): Program<void> {
  if (closedBelow === null || encryption === undefined || encryption.mode === 'sse-c') return;
  if (!isSealedClosed(encryption.sealedKey, closedBelow)) return;
  yield* send(
    `insert into store_property (name, value) values (?, '1') on conflict (name) do update set value = '1'`,
    COPIED_CLOSED_KEY,
  );
}
