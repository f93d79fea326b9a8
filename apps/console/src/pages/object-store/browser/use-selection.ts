import { useState } from 'react';
import type { Entry } from './entries.ts';

export interface Selection {
  readonly selected: readonly Entry[];
  /** All that is shown is chosen. */
  readonly all: boolean;
  isSelected(entry: Entry): boolean;
  toggle(entry: Entry): void;
  toggleAll(): void;
  clear(): void;
}

/** What is chosen of the entries that are shown; what is no longer shown is no longer chosen. */
export function useSelection(entries: readonly Entry[] | undefined): Selection {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const selected = (entries ?? []).filter((entry) => keys.has(entry.key));
  const all = selected.length > 0 && selected.length === entries?.length;
  return {
    selected,
    all,
    isSelected: (entry) => keys.has(entry.key),
    toggle: (entry) => {
      const next = new Set(selected.map(({ key }) => key));
      if (!next.delete(entry.key)) next.add(entry.key);
      setKeys(next);
    },
    toggleAll: () => setKeys(all ? new Set() : new Set((entries ?? []).map(({ key }) => key))),
    clear: () => setKeys(new Set()),
  };
}
