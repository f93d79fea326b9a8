import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './list.module.css';

/** A column of a filter bar, a table and its footer. */
export function ListStack({ children }: { children: ReactNode }) {
  return <div className={styles['list']}>{children}</div>;
}

export interface LoadMoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  /** Label of the button. */
  label?: string;
}

/** Loads the next page of a list; hidden at its end. */
export function LoadMore({ query, label = 'Load more' }: LoadMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className={styles['more']}>
      <Button pending={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {label}
      </Button>
    </div>
  );
}

export interface TwoLinesProps {
  /** The name, with optional badges. */
  children: ReactNode;
  /** The second line, such as a namespace. */
  under?: ReactNode;
  title?: string;
  /** Wraps the name instead of truncating it. */
  whole?: boolean;
}

/** A cell with a name and a smaller second line. */
export function TwoLines({ children, under, title, whole = false }: TwoLinesProps) {
  return (
    <span className={styles['twoLines']} title={title}>
      <span className={classNames(styles['line'], whole && styles['whole'])}>{children}</span>
      {under !== undefined && under !== null && under !== false && <span className={styles['under']}>{under}</span>}
    </span>
  );
}

/** Untruncated text in a cell, such as a cause. */
export function WrappedText({ children }: { children: ReactNode }) {
  return <p className={styles['wrapped']}>{children}</p>;
}
