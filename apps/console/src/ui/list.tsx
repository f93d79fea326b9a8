import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import styles from './list.module.css';

/** A filter bar, a table and what follows it, below one another. */
export function ListStack({ children }: { children: ReactNode }) {
  return <div className={styles['list']}>{children}</div>;
}

export interface LoadMoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  /** What the button says. */
  label?: string;
}

/** The next page of a list; nothing at its end. */
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
  /** The name, with badges beside it. */
  children: ReactNode;
  /** The second line, such as a namespace. */
  under?: ReactNode;
  title?: string;
  /** The name is wrapped and not cut. */
  whole?: boolean;
}

/** A cell with a name and a smaller line under it. */
export function TwoLines({ children, under, title, whole = false }: TwoLinesProps) {
  return (
    <span className={styles['twoLines']} title={title}>
      <span className={classNames(styles['line'], whole && styles['whole'])}>{children}</span>
      {under !== undefined && under !== null && under !== false && <span className={styles['under']}>{under}</span>}
    </span>
  );
}

/** Text that is shown whole in a cell, such as a cause. */
export function WrappedText({ children }: { children: ReactNode }) {
  return <p className={styles['wrapped']}>{children}</p>;
}
