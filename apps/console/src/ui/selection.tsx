import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import styles from './list.module.css';
import type { Column } from './table.tsx';
import type { Selection } from './use-selection.ts';

/** A column of checkboxes that select rows. */
export function selectColumn<Item>(selection: Selection<Item>, nameOf: (item: Item) => string): Column<Item> {
  return {
    id: 'select',
    header: 'Select',
    headerHidden: true,
    width: '2.75rem',
    cell: (item) => (
      <Checkbox
        label={`Select ${nameOf(item)}`}
        labelHidden
        checked={selection.has(item)}
        onChange={() => selection.toggle(item)}
      />
    ),
  };
}

export interface SelectionBarProps<Item> {
  selection: Selection<Item>;
  /** Actions for the selected rows. */
  children: ReactNode;
}

/** The number of selected rows with their actions; hidden without a selection. */
export function SelectionBar<Item>({ selection, children }: SelectionBarProps<Item>) {
  if (selection.items.length === 0) return null;
  return (
    <div className={styles['selection']} role="status">
      <span>{selection.items.length} selected</span>
      <Button size="small" variant="ghost" onClick={selection.toggleAll}>
        {selection.all ? 'Clear' : 'Select all'}
      </Button>
      {children}
    </div>
  );
}
