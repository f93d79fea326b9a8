import { sandboxErrors } from '../errors.ts';

export interface PagePlace {
  readonly createdAt: string;
  readonly id: string;
}

/** Encodes the end of a page in a list ordered by time, newest first. */
export function pageCursor(last: PagePlace | undefined): string | null {
  return last === undefined ? null : Buffer.from(`${last.createdAt}|${last.id}`).toString('base64url');
}

export function parseCursor(cursor: string): PagePlace {
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('|');
  if (createdAt === '' || id === '') {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'cursor', reason: 'it was not made by this list' } });
  }
  return { createdAt, id };
}
