import type { Page } from '@svc/sdk';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { MOST_PAGES_OF_OBJECTS } from '../../../api/clusters.ts';
import { describeError } from '../../../ui/describe-error.ts';
import { ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ListStack, LoadMore } from '../../../ui/list.tsx';
import styles from './objects.module.css';

export interface ObjectListProps<Item> {
  query: UseInfiniteQueryResult<InfiniteData<Page<Item>>>;
  caption: string;
  columns: readonly Column<Item>[];
  rowKey: (item: Item) => string;
  empty: ReactNode;
}

/** Objects as of the last successful read. If a refetch fails, they stay, with their age. */
export function ObjectList<Item>({ query, caption, columns, rowKey, empty }: ObjectListProps<Item>) {
  if (query.data === undefined && query.isError) {
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <ListStack>
      {query.isError && (
        <p className={styles['stale']} role="status">
          Last updated <RelativeTime at={new Date(query.dataUpdatedAt).toISOString()} />. {describeError(query.error)}
        </p>
      )}
      <Table
        caption={caption}
        columns={columns}
        rows={query.data?.pages.flatMap(({ items }) => items)}
        rowKey={rowKey}
        empty={empty}
        skeletonRows={6}
      />
      {query.hasNextPage && <More query={query} />}
    </ListStack>
  );
}

/** Another page would evict the first one. */
function More<Item>({ query }: Pick<ObjectListProps<Item>, 'query'>) {
  if ((query.data?.pages.length ?? 0) < MOST_PAGES_OF_OBJECTS) return <LoadMore query={query} />;
  return <p className="muted">Too many to show at once. Filter by name or namespace.</p>;
}
