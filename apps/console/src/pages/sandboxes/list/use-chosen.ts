import { useState } from 'react';

export interface Chosen<Item extends { id: string }> {
  readonly items: readonly Item[];
  /** All that are shown are chosen. */
  readonly all: boolean;
  has(item: Item): boolean;
  toggle(item: Item): void;
  toggleAll(): void;
  clear(): void;
}

/** Which of the shown rows are chosen; what is no longer shown is no longer chosen. */
export function useChosen<Item extends { id: string }>(shown: readonly Item[]): Chosen<Item> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const items = shown.filter(({ id }) => ids.has(id));
  const all = items.length > 0 && items.length === shown.length;
  return {
    items,
    all,
    has: ({ id }) => ids.has(id),
    toggle: ({ id }) => {
      const next = new Set(items.map((each) => each.id));
      if (!next.delete(id)) next.add(id);
      setIds(next);
    },
    toggleAll: () => setIds(all ? new Set() : new Set(shown.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  };
}
