import type { Page } from '@svc/sdk';

/** The platform limits how many there can be; this only keeps a faulty cursor from going round for ever. */
const MAX_PAGES = 20;

/** For lists that are short by nature, such as a person's teams: all their pages as one list. */
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
