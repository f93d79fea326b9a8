import type { ObjectPage, StoredObject } from '@svc/sdk';
import { nameIn } from './folder-path.ts';

/** A row of the object browser. */
export type Entry =
  | { kind: 'folder'; key: string; name: string }
  | { kind: 'object'; key: string; name: string; object: StoredObject };

/** Returns folders first, then objects, each in listing order, without the folder's own marker. */
export function entriesOf(pages: readonly ObjectPage[], prefix: string): Entry[] {
  const folders = new Set(pages.flatMap((page) => page.prefixes));
  const entries: Entry[] = [...folders].map((key) => ({ kind: 'folder', key, name: nameIn(prefix, key) }));
  for (const object of pages.flatMap((page) => page.objects)) {
    if (object.key === prefix) continue;
    entries.push({ kind: 'object', key: object.key, name: nameIn(prefix, object.key), object });
  }
  return entries;
}
