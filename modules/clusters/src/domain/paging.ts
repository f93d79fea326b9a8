import { clusterErrors } from '../errors.ts';

export interface PageRequest {
  limit: number;
  /** Key parts of the last row, in sort order; null for the first page. */
  after: readonly string[] | null;
}

export interface Page<Item> {
  items: Item[];
  /** Opaque; null on the last page. */
  nextCursor: string | null;
}

const DEFAULT_PAGE_SIZE = 100;

export function pageRequest(
  query: { page_size?: number | undefined; cursor?: string | undefined },
  keyParts: number,
): PageRequest {
  const limit = query.page_size ?? DEFAULT_PAGE_SIZE;
  return { limit, after: query.cursor === undefined ? null : decodeCursor(query.cursor, keyParts) };
}

/** Stores return one row more than the page holds, which shows whether another page follows. */
export function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  keyOf: (last: Item) => readonly string[],
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null };
}

function decodeCursor(cursor: string, keyParts: number): string[] {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (cause) {
    throw badCursor(cause);
  }
  if (!Array.isArray(parts) || parts.length !== keyParts) throw badCursor();
  return parts.map((part) => {
    if (typeof part !== 'string') throw badCursor();
    return part;
  });
}

function badCursor(cause?: unknown): Error {
  return clusterErrors.INVALID_REQUEST({
    details: { field: 'cursor', reason: 'cursor must be the next_cursor of a list response' },
    cause,
  });
}
