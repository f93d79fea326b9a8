import type { Page } from './accounts-types.ts';
import { UnexpectedAnswerError } from './errors.ts';
import type { CallRequest, Transport } from './transport.ts';

/** Selects a page of a list. */
export interface PageQuery {
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  pageSize?: number | undefined;
}

/** Returns the query parameters `cursor` and `page_size` for a page. */
export function pageParameters(page: PageQuery): NonNullable<CallRequest['query']> {
  return { cursor: page.cursor, page_size: page.pageSize };
}

/** Converts lists from `{"<name>": [...], "next_cursor": ...}` to one shape. */
export async function listPage<Item>(
  transport: Transport,
  name: string,
  request: Omit<CallRequest, 'method'>,
): Promise<Page<Item>> {
  const answer = await transport.call<Record<string, unknown>>({ method: 'GET', ...request });
  const items = answer[name];
  const cursor = answer['next_cursor'];
  if (!Array.isArray(items)) throw new UnexpectedAnswerError(`The answer has no list of ${name}`);
  // The parse: the server's route schema guarantees the shape of the items.
  return { items: items as Item[], nextCursor: typeof cursor === 'string' ? cursor : null };
}
