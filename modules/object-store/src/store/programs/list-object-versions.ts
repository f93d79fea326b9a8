import { afterPrefix, commonPrefixOf, compareKeys } from '../../domain/key-order.ts';
import type { ListObjectVersions, VersionPage, VersionSummary } from '../../domain/ports/version-listing.ts';
import { all, type Program, type Row } from '../program.ts';
import { flag, integer, text } from '../row.ts';
import { NULL_VERSION } from '../../domain/version-id.ts';
import { parseOrderKey } from '../version-order.ts';
import { toSummary } from './list-objects.ts';
import { positionBehind, scanPage } from './skip-scan.ts';
import { findVersion } from './version-rows.ts';

/** Where to continue: at a key with all its versions, or after one version. */
type Position =
  | { kind: 'key'; key: string; inclusive: boolean }
  /** Includes the key's older versions. */
  | { kind: 'version'; key: string; orderKey: number };

const at = (key: string): Position => ({ kind: 'key', key, inclusive: true });

/** Lists one page with `scanPage`, over the table itself: every row is a visible version. */
export function* listObjectVersions(input: ListObjectVersions): Program<VersionPage> {
  const { bucketId, prefix, delimiter, limit } = input;
  const end = afterPrefix(prefix);
  const { entries, commonPrefixes, truncated, endsIn } = yield* scanPage<Position, VersionSummary>({
    prefix,
    delimiter,
    limit,
    start: yield* findStart(input),
    firstBatch: limit + 1,
    read: (from, most) => readRows(bucketId, from, end, most),
    toEntry: toVersionSummary,
    at,
    behind: (row) => ({ kind: 'version', key: text(row, 'key'), orderKey: integer(row, 'order_key') }),
  });
  const last = truncated && endsIn === null ? entries.at(-1) : undefined;
  return {
    versions: entries,
    commonPrefixes,
    truncated,
    nextKey: truncated ? (endsIn ?? last?.key ?? null) : null,
    nextVersionId: last?.versionId ?? null,
  };
}

function* findStart(input: ListObjectVersions): Program<Position | null> {
  const { bucketId, prefix, delimiter, afterKey, afterVersionId } = input;
  if (afterKey === '' || compareKeys(afterKey, prefix) < 0) return at(prefix);
  const common = afterKey.startsWith(prefix) ? commonPrefixOf(afterKey, prefix, delimiter) : null;
  if (common !== null) return positionBehind({ at }, common);
  if (afterVersionId === '') return { kind: 'key', key: afterKey, inclusive: false };
  const orderKey =
    afterVersionId === NULL_VERSION
      ? ((yield* findVersion(bucketId, afterKey, NULL_VERSION))?.orderKey ?? null)
      : parseOrderKey(afterVersionId);
  // The marker's version may have been deleted, and a `null` id does not tell its position. Repeating entries is better
  // than skipping some.
  if (orderKey === null) return at(afterKey);
  return { kind: 'version', key: afterKey, orderKey };
}

function* readRows(bucketId: number, from: Position, end: string | null, limit: number): Program<readonly Row[]> {
  const select = `select key, order_key, version_id, is_latest, delete_marker, size_bytes, etag, modified_at_ms, checksum
    from object where bucket_id = ?`;
  const values = from.kind === 'key' ? [from.key] : [from.key, from.orderKey];
  const start = from.kind === 'version' ? '(key, order_key) > (?, ?)' : `key ${from.inclusive ? '>=' : '>'} ?`;
  const order = 'order by key, order_key limit ?';
  if (end === null) return yield* all(`${select} and ${start} ${order}`, bucketId, ...values, limit);
  return yield* all(`${select} and ${start} and key < ? ${order}`, bucketId, ...values, end, limit);
}

function toVersionSummary(key: string, row: Row): VersionSummary {
  return {
    ...toSummary(key, row),
    versionId: text(row, 'version_id'),
    isLatest: flag(row, 'is_latest'),
    deleteMarker: flag(row, 'delete_marker'),
  };
}
