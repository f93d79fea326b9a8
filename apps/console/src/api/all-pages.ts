import type { Page } from '@svc/sdk';

/** The platform bounds the number of pages; this only stops an endless loop on a faulty cursor. */
const MAX_PAGES = 20;

/** Loads all pages of a naturally short list, such as a person's teams, as one list. */
export async function allPages<Item>(load: (cursor: string | undefined) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const page = await load(cursor);
    items.push(...page.items);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return items;
}
