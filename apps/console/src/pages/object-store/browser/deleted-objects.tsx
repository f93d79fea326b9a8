import type { ObjectVersion } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { File } from 'lucide-react';
import { deletedObjectsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { EntryName } from '../../../ui/folder-list.tsx';
import { LoadMore } from '../../../ui/list.tsx';
import { nameIn } from './folder-path.ts';
import { useVersionChanges } from './use-version-changes.ts';

export interface DeletedObjectsProps {
  bucket: string;
  prefix: string;
  writable: boolean;
  onOpen: (key: string) => void;
}

/** Deleted objects of a folder with retained versions. */
export function DeletedObjects({ bucket, prefix, writable, onOpen }: DeletedObjectsProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const pages = useInfiniteQuery(deletedObjectsQuery(svc, workspace, bucket, prefix));
  const { restore } = useVersionChanges(bucket);
  const rows = pages.data?.pages.flatMap(({ versions }) =>
    versions.filter((version) => version.is_latest && version.delete_marker),
  );
  const columns: Column<ObjectVersion>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ key }) => <EntryName icon={<File size={15} />} name={nameIn(prefix, key)} onOpen={() => onOpen(key)} />,
    },
    { id: 'at', header: 'Deleted', width: '9rem', cell: ({ last_modified: at }) => <RelativeTime at={at} /> },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '7.5rem',
      cell: (version) =>
        writable && (
          <Button
            size="small"
            pending={restore.isPending && restore.variables.key === version.key}
            aria-label={`Restore ${nameIn(prefix, version.key)}`}
            onClick={() => restore.mutate(version)}
          >
            Restore
          </Button>
        ),
    },
  ];
  return (
    <Section title="Deleted objects" description="Previous versions are kept until you delete them.">
      {pages.isError ? (
        <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
      ) : (
        <Table
          caption={`Deleted objects in ${bucket}/${prefix}`}
          columns={columns}
          rows={rows}
          rowKey={({ key }) => key}
          skeletonRows={2}
          empty={
            <EmptyState title="No deleted objects">
              {pages.hasNextPage ? 'Load more to keep looking.' : undefined}
            </EmptyState>
          }
        />
      )}
      <LoadMore query={pages} />
    </Section>
  );
}
