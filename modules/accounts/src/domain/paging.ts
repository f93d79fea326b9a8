import { parseCursor } from '@svc/runtime';
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

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 200;

export function pageRequest(query: { page_size?: number | undefined; cursor?: string | undefined }): PageRequest {
  const limit = Math.min(query.page_size ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  if (query.cursor === undefined) return { limit, after: null };
  const [createdAt, id] = decodeCursor(query.cursor, 2);
  if (createdAt === undefined || id === undefined) throw badCursor();
  return { limit, after: { createdAt, id } };
}

/** Returns the key of a cursor. Throws if no list returned it. */
export function decodeCursor(cursor: string, keyParts: number): string[] {
  const key = parseCursor(cursor, keyParts);
  if (key === null) throw badCursor();
  return key;
}

function badCursor(): Error {
  return accountErrors.INVALID_REQUEST({
    details: { field: 'cursor', reason: 'cursor must be the next_cursor of a list response' },
  });
}
