import { afterPrefix, commonPrefixOf, compareKeys } from '../../domain/key-order.ts';
import type { ListObjects, ObjectPage } from '../../ports/metadata-store.ts';
import type { ObjectSummary } from '../../ports/records.ts';
import { toAttributes, toChecksum } from '../object-row.ts';
import { all, type Program, type Row } from '../program.ts';
import { integer, text, textOrNull } from '../row.ts';

/** Rows of the first look; it grows where keys show as themselves and shrinks where they vanish in common prefixes. */
const FIRST_BATCH = 32;
const SMALLEST_BATCH = 4;

interface Position {
  key: string;
  inclusive: boolean;
}

/**
 * One page by skip-scan: after a common prefix the next seek starts behind everything below it, so that a page costs
 * what it shows, however many keys are in the bucket or under a folder.
 */
export function* listObjects(input: ListObjects): Program<ObjectPage> {
  const page = new PageBuilder(input);
  const end = afterPrefix(input.prefix);
  let position = startOf(input);
  let batch = input.delimiter === '' ? input.limit + 1 : Math.min(input.limit + 1, FIRST_BATCH);
  while (position !== null) {
    const rows = yield* readRows(input, position, end, batch);
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

/** A page that started at a common prefix goes on behind all of it, also when `after` is a key inside. */
function startOf({ prefix, delimiter, after }: ListObjects): Position | null {
  if (after === '' || compareKeys(after, prefix) < 0) return { key: prefix, inclusive: true };
  const common = after.startsWith(prefix) ? commonPrefixOf(after, prefix, delimiter) : null;
  return common === null ? { key: after, inclusive: false } : behind(common);
}

function behind(commonPrefix: string): Position | null {
  const key = afterPrefix(commonPrefix);
  return key === null ? null : { key, inclusive: true };
}

function* readRows(input: ListObjects, from: Position, end: string | null, limit: number): Program<readonly Row[]> {
  // A bucket without versions has only rows that show, in the order of the table itself.
  const source = input.versioned ? 'object {index object_listed}' : 'object';
  const more = input.detailed === true ? ', version_id, attributes' : '';
  const select = `select key, size_bytes, etag, modified_at_ms, checksum${more} from ${source}
    where bucket_id = ? and is_latest = 1 and delete_marker = 0 and key ${from.inclusive ? '>=' : '>'} ?`;
  if (end === null) return yield* all(`${select} order by key limit ?`, input.bucketId, from.key, limit);
  return yield* all(`${select} and key < ? order by key limit ?`, input.bucketId, from.key, end, limit);
}

class PageBuilder {
  readonly #input: ListObjects;
  readonly #objects: ObjectSummary[] = [];
  readonly #commonPrefixes: string[] = [];
  #last: string | null = null;
  #openPrefix: string | null = null;

  constructor(input: ListObjects) {
    this.#input = input;
  }

  get size(): number {
    return this.#objects.length + this.#commonPrefixes.length;
  }

  /** False when the page is full and this row would have shown. */
  add(row: Row): boolean {
    const key = text(row, 'key');
    if (this.#openPrefix !== null && key.startsWith(this.#openPrefix)) return true;
    if (this.size >= this.#input.limit) return false;
    const common = commonPrefixOf(key, this.#input.prefix, this.#input.delimiter);
    this.#openPrefix = common;
    this.#last = common ?? key;
    if (common === null) this.#objects.push(this.#input.detailed === true ? toDetailed(key, row) : toSummary(key, row));
    else this.#commonPrefixes.push(common);
    return true;
  }

  resumeAfter(rows: readonly Row[]): Position | null {
    const row = rows.at(-1);
    if (row === undefined) return null;
    return this.#openPrefix === null ? { key: text(row, 'key'), inclusive: false } : behind(this.#openPrefix);
  }

  finish(truncated: boolean): ObjectPage {
    return {
      objects: this.#objects,
      commonPrefixes: this.#commonPrefixes,
      truncated,
      next: truncated ? this.#last : null,
    };
  }
}

function toDetailed(key: string, row: Row): ObjectSummary {
  const { contentType, accessControlList } = toAttributes(text(row, 'attributes'));
  const details = { versionId: text(row, 'version_id'), contentType };
  return {
    ...toSummary(key, row),
    details: accessControlList === undefined ? details : { ...details, accessControlList },
  };
}

export function toSummary(key: string, row: Row): ObjectSummary {
  return {
    key,
    sizeBytes: integer(row, 'size_bytes'),
    etag: text(row, 'etag'),
    modifiedAtMs: integer(row, 'modified_at_ms'),
    checksum: toChecksum(textOrNull(row, 'checksum')),
  };
}
