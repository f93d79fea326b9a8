import { accountErrors } from '../errors.ts';

/** Start of a page: after the row with this time and id, ordered by both. */
export interface Position {
  createdAt: string;
  id: string;
}

export interface PageRequest {
  limit: number;
  after: Position | null;
}

export interface Page<Item> {
  items: Item[];
  /** Opaque; null on the last page. */
  nextCursor: string | null;
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 200;

export function pageRequest(query: { page_size?: number | undefined; cursor?: string | undefined }): PageRequest {
  const limit = Math.min(query.page_size ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  if (query.cursor === undefined) return { limit, after: null };
  const [createdAt, id] = decodeCursor(query.cursor, 2);
  if (createdAt === undefined || id === undefined) throw badCursor();
  return { limit, after: { createdAt, id } };
}

/** Stores return one row more than the page holds, which shows whether another page follows. */
export function pageOf<Item>(rows: readonly Item[], limit: number, cursorOf: (last: Item) => string): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null };
}

export function encodeCursor(...parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

export function decodeCursor(cursor: string, length: number): string[] {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (error) {
    throw badCursor(error);
  }
  if (!Array.isArray(parts) || parts.length !== length) throw badCursor();
  return parts.map((part) => {
    if (typeof part !== 'string') throw badCursor();
    return part;
  });
}

function badCursor(cause?: unknown): Error {
  return accountErrors.INVALID_REQUEST({
    details: { field: 'cursor', reason: 'cursor must be the next_cursor of a list response' },
    cause,
  });
}
