import { fieldAt, recordsAt, textAt } from '@svc/kube/values';
import { clusterErrors } from '../../errors.ts';

/** One kind of object in a listing that may join several kinds. */
export interface ObjectSource<Item> {
  /** For example `/apis/apps/v1/deployments`. */
  path: string;
  view: (object: Record<string, unknown>) => Item;
}

export interface ObjectPagesOptions<Item> {
  sources: readonly ObjectSource<Item>[];
  /** Reads one page of the API server's list. */
  read: (path: string, query: { limit: string; continue: string | undefined }) => Promise<unknown>;
  /** Substring of the names to match; absent = all. */
  name?: string | undefined;
  pageSize: number;
  cursor?: string | undefined;
}

export interface ObjectPage<Item> {
  items: Item[];
  /** Null on the last page. A page may be empty and still have a cursor if nothing has matched so far. */
  nextCursor: string | null;
}

/**
 * Where a listing resumes: the source, the API server's continue token, and the number of objects to skip on the next
 * page.
 */
interface Position {
  source: number;
  token: string | null;
  skip: number;
}

/** A search for a rare name reads at most this many pages before it returns a cursor. */
const MAX_READS = 10;
const SEARCH_PAGE_SIZE = 200;

/** Keeps one page in memory at a time. Uses the API server's order: namespace, then name. */
export async function readObjectPage<Item>(options: ObjectPagesOptions<Item>): Promise<ObjectPage<Item>> {
  const { sources, read, name, pageSize, cursor } = options;
  const limit = String(name === undefined ? pageSize : SEARCH_PAGE_SIZE);
  let position: Position = cursor === undefined ? { source: 0, token: null, skip: 0 } : decodeCursor(cursor);
  const items: Item[] = [];
  for (let reads = 0; reads < MAX_READS && items.length < pageSize; reads += 1) {
    const source = sources[position.source];
    if (source === undefined) break;
    const list = await read(source.path, { limit, continue: position.token ?? undefined });
    const objects = recordsAt(list, 'items');
    for (let index = position.skip; index < objects.length; index += 1) {
      const object = objects[index] ?? {};
      if (name !== undefined && textAt(object, 'metadata', 'name')?.includes(name) !== true) continue;
      if (items.length === pageSize) return { items, nextCursor: encodeCursor({ ...position, skip: index }) };
      items.push(source.view(object));
    }
    const token = parseContinueToken(list);
    position = { source: token === null ? position.source + 1 : position.source, token, skip: 0 };
  }
  return { items, nextCursor: position.source < sources.length ? encodeCursor(position) : null };
}

const MAX_TOKEN_LENGTH = 2048;

function parseContinueToken(list: unknown): string | null {
  const token = fieldAt(list, 'metadata', 'continue');
  return typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_LENGTH ? token : null;
}

function encodeCursor({ source, token, skip }: Position): string {
  return Buffer.from(JSON.stringify([source, token, skip])).toString('base64url');
}

function decodeCursor(cursor: string): Position {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.length === 3) {
      const [source, token, skip] = parts as unknown[]; // each is checked below
      if (isIndex(source) && (token === null || typeof token === 'string') && isIndex(skip)) {
        return { source, token, skip };
      }
    }
  } catch {
    // answered like any other cursor that no list made
  }
  throw clusterErrors.INVALID_REQUEST({
    details: { field: 'cursor', reason: 'cursor must be the next_cursor of a list response' },
  });
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
