import { useState } from 'react';

export interface Selection<Item> {
  readonly items: readonly Item[];
  /** Whether all shown rows are selected. */
  readonly all: boolean;
  has(item: Item): boolean;
  toggle(item: Item): void;
  toggleAll(): void;
  clear(): void;
}

/** The selected rows among those shown; rows that disappear are deselected. */
export function useSelection<Item>(shown: readonly Item[], keyOf: (item: Item) => string): Selection<Item> {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const items = shown.filter((item) => keys.has(keyOf(item)));
  const all = items.length > 0 && items.length === shown.length;
  return {
    items,
    all,
    has: (item) => keys.has(keyOf(item)),
    toggle: (item) => {
      const next = new Set(items.map(keyOf));
      if (!next.delete(keyOf(item))) next.add(keyOf(item));
      setKeys(next);
    },
    toggleAll: () => setKeys(all ? new Set() : new Set(shown.map(keyOf))),
    clear: () => setKeys(new Set()),
  };
}
