import { parseCursor } from '@svc/runtime';
import { clusterErrors } from '../errors.ts';

export interface PageRequest {
  limit: number;
  /** Key parts of the last row, in sort order; null for the first page. */
  after: readonly string[] | null;
}

const DEFAULT_PAGE_SIZE = 100;

export function pageRequest(
  query: { page_size?: number | undefined; cursor?: string | undefined },
  keyParts: number,
): PageRequest {
  const limit = query.page_size ?? DEFAULT_PAGE_SIZE;
  if (query.cursor === undefined) return { limit, after: null };
  const after = parseCursor(query.cursor, keyParts);
  if (after === null) throw badCursor();
  return { limit, after };
}

function badCursor(): Error {
  return clusterErrors.INVALID_REQUEST({
    details: { field: 'cursor', reason: 'cursor must be the next_cursor of a list response' },
  });
}
