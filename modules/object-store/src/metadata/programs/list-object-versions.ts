import { afterPrefix, commonPrefixOf, compareKeys } from '../../domain/key-order.ts';
import type { ListObjectVersions, VersionPage, VersionSummary } from '../../ports/version-listing.ts';
import { all, type Program, type Row } from '../program.ts';
import { flag, integer, text } from '../row.ts';
import { NULL_VERSION } from '../../domain/version-id.ts';
import { orderKeyOf } from '../version-order.ts';
import { toSummary } from './list-objects.ts';
import { findVersion } from './version-rows.ts';

const SMALLEST_BATCH = 4;

/** Where to read on: at a key with all its versions, or behind one version. */
type Position =
  | { kind: 'key'; key: string; inclusive: boolean }
  /** Also the key's other versions, which are older. */
  | { kind: 'version'; key: string; orderKey: number };

/** One page by skip-scan, as in `listObjects`, over the table itself: every row of it is a version that shows. */
export function* listObjectVersions(input: ListObjectVersions): Program<VersionPage> {
  const page = new VersionPageBuilder(input);
  const end = afterPrefix(input.prefix);
  let position = yield* startOf(input);
  let batch = input.limit + 1;
  while (position !== null) {
    const rows = yield* readRows(input.bucketId, position, end, batch);
    const before = page.size;
    for (const row of rows) {
      if (!page.add(row)) return page.finish(true);
    }
    if (rows.length < batch) break;
    position = page.resumeAfter(rows);
    const shown = page.size - before;
    batch = shown * 2 < rows.length ? SMALLEST_BATCH : Math.min(batch * 4, input.limit - page.size + 1);
    batch = Math.max(batch, SMALLEST_BATCH);
  }
  return page.finish(false);
}

function* startOf(input: ListObjectVersions): Program<Position | null> {
  const { bucketId, prefix, delimiter, afterKey, afterVersionId } = input;
  if (afterKey === '' || compareKeys(afterKey, prefix) < 0) return { kind: 'key', key: prefix, inclusive: true };
  const common = afterKey.startsWith(prefix) ? commonPrefixOf(afterKey, prefix, delimiter) : null;
  if (common !== null) return behind(common);
  if (afterVersionId === '') return { kind: 'key', key: afterKey, inclusive: false };
  const orderKey =
    afterVersionId === NULL_VERSION
      ? ((yield* findVersion(bucketId, afterKey, NULL_VERSION))?.orderKey ?? null)
      : orderKeyOf(afterVersionId);
  // The marker's version can be gone by now, and an id of `null` does not say where it stood: better twice than never.
  if (orderKey === null) return { kind: 'key', key: afterKey, inclusive: true };
  return { kind: 'version', key: afterKey, orderKey };
}

function behind(commonPrefix: string): Position | null {
  const key = afterPrefix(commonPrefix);
  return key === null ? null : { kind: 'key', key, inclusive: true };
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

class VersionPageBuilder {
  readonly #input: ListObjectVersions;
  readonly #versions: VersionSummary[] = [];
  readonly #commonPrefixes: string[] = [];
  #openPrefix: string | null = null;

  constructor(input: ListObjectVersions) {
    this.#input = input;
  }

  get size(): number {
    return this.#versions.length + this.#commonPrefixes.length;
  }

  /** False when the page is full and this row would have shown. */
  add(row: Row): boolean {
    const key = text(row, 'key');
    if (this.#openPrefix !== null && key.startsWith(this.#openPrefix)) return true;
    if (this.size >= this.#input.limit) return false;
    this.#openPrefix = commonPrefixOf(key, this.#input.prefix, this.#input.delimiter);
    if (this.#openPrefix === null) this.#versions.push(toVersionSummary(key, row));
    else this.#commonPrefixes.push(this.#openPrefix);
    return true;
  }

  resumeAfter(rows: readonly Row[]): Position | null {
    const row = rows.at(-1);
    if (row === undefined) return null;
    if (this.#openPrefix !== null) return behind(this.#openPrefix);
    return { kind: 'version', key: text(row, 'key'), orderKey: integer(row, 'order_key') };
  }

  finish(truncated: boolean): VersionPage {
    const last = this.#openPrefix === null ? this.#versions.at(-1) : undefined;
    return {
      versions: this.#versions,
      commonPrefixes: this.#commonPrefixes,
      truncated,
      nextKey: truncated ? (this.#openPrefix ?? last?.key ?? null) : null,
      nextVersionId: truncated ? (last?.versionId ?? null) : null,
    };
  }
}

function toVersionSummary(key: string, row: Row): VersionSummary {
  return {
    ...toSummary(key, row),
    versionId: text(row, 'version_id'),
    isLatest: flag(row, 'is_latest'),
    deleteMarker: flag(row, 'delete_marker'),
  };
}
