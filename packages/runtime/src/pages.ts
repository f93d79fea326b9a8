/** A part of a list. */
export interface Page<Item> {
  items: Item[];
  /** Opaque; null on the last page. */
  nextCursor: string | null;
}

/**
 * Makes a page of rows from a query for one row more than `limit`, which shows whether another page follows. `keyOf`
 * returns what the list is ordered by.
 *
 * @example
 *   const rows = await query.limit(limit + 1).execute();
 *   return pageOf(rows, limit, (last) => [last.createdAt, last.id]);
 */
export function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  keyOf: (last: Item) => readonly string[],
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { items, nextCursor: hasMore ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null };
}

/** Returns the key of a cursor that `pageOf` wrote, or null if a client made it up. */
export function parseCursor(cursor: string, keyParts: number): string[] | null {
  let key: unknown;
  try {
    key = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return null;
  }
  return Array.isArray(key) && key.length === keyParts && key.every((part) => typeof part === 'string') ? key : null;
}
