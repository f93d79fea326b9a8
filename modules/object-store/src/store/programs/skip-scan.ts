import { afterPrefix, commonPrefixOf } from '../../domain/key-order.ts';
import type { Program, Row } from '../program.ts';
import { text } from '../row.ts';

/** Rows per read when most are grouped into common prefixes. */
const SMALLEST_BATCH = 4;

/** A page of a listing. `Position` is where reading continues. */
export interface SkipScan<Position, Entry> {
  readonly prefix: string;
  readonly delimiter: string;
  readonly limit: number;
  /** Null if nothing can follow the start of the page. */
  readonly start: Position | null;
  readonly firstBatch: number;
  /** Visible rows, by key. */
  read(from: Position, limit: number): Program<readonly Row[]>;
  toEntry(key: string, row: Row): Entry;
  /** The position at a key, inclusive. */
  at(key: string): Position;
  behind(row: Row): Position;
}

export interface ScannedPage<Entry> {
  readonly entries: readonly Entry[];
  readonly commonPrefixes: readonly string[];
  readonly truncated: boolean;
  /** The common prefix that ends the page. Null if an entry does. */
  readonly endsIn: string | null;
}

/**
 * After a common prefix, the next seek starts behind all of its keys, so that a page's cost depends on what it shows,
 * however many keys the bucket or a folder has. Batches grow while keys are listed individually and shrink while they
 * are grouped.
 */
export function* scanPage<Position, Entry>(scan: SkipScan<Position, Entry>): Program<ScannedPage<Entry>> {
  const page = new PageBuilder(scan);
  let { start: position, firstBatch: batch } = scan;
  while (position !== null) {
    const rows = yield* scan.read(position, batch);
    const before = page.size;
    for (const row of rows) {
      if (!page.add(row)) return page.finish(true);
    }
    if (rows.length < batch) break;
    position = page.resumeAfter(rows);
    const shown = page.size - before;
    batch = shown * 2 < rows.length ? SMALLEST_BATCH : Math.min(batch * 4, scan.limit - page.size + 1);
    batch = Math.max(batch, SMALLEST_BATCH);
  }
  return page.finish(false);
}

/** Where to continue behind a common prefix. Null if no key can follow. */
export function positionBehind<Position>(
  { at }: Pick<SkipScan<Position, unknown>, 'at'>,
  commonPrefix: string,
): Position | null {
  const key = afterPrefix(commonPrefix);
  return key === null ? null : at(key);
}

class PageBuilder<Position, Entry> {
  readonly #scan: SkipScan<Position, Entry>;
  readonly #entries: Entry[] = [];
  readonly #commonPrefixes: string[] = [];
  #openPrefix: string | null = null;

  constructor(scan: SkipScan<Position, Entry>) {
    this.#scan = scan;
  }

  get size(): number {
    return this.#entries.length + this.#commonPrefixes.length;
  }

  /** False if the page is full and this row would be visible. */
  add(row: Row): boolean {
    const key = text(row, 'key');
    if (this.#openPrefix !== null && key.startsWith(this.#openPrefix)) return true;
    const { prefix, delimiter, limit } = this.#scan;
    if (this.size >= limit) return false;
    this.#openPrefix = commonPrefixOf(key, prefix, delimiter);
    if (this.#openPrefix === null) this.#entries.push(this.#scan.toEntry(key, row));
    else this.#commonPrefixes.push(this.#openPrefix);
    return true;
  }

  resumeAfter(rows: readonly Row[]): Position | null {
    const row = rows.at(-1);
    if (row === undefined) return null;
    return this.#openPrefix === null ? this.#scan.behind(row) : positionBehind(this.#scan, this.#openPrefix);
  }

  finish(truncated: boolean): ScannedPage<Entry> {
    return { entries: this.#entries, commonPrefixes: this.#commonPrefixes, truncated, endsIn: this.#openPrefix };
  }
}
