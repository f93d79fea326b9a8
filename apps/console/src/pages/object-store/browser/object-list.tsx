import { useInfiniteQuery } from '@tanstack/react-query';
import { FolderOpen, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { objectsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { FolderBar } from '../../../ui/folder-list.tsx';
import { LoadMore } from '../../../ui/list.tsx';
import { SelectionBar } from '../../../ui/selection.tsx';
import { useSelection } from '../../../ui/use-selection.ts';
import { stepsOf } from './folder-path.ts';
import { paths } from '../../../routes/paths.ts';
import { DeleteEntriesDialog } from './delete-entries-dialog.tsx';
import { entriesOf, type Entry } from './entries.ts';
import { entryColumns } from './entry-columns.tsx';

export interface ObjectListProps {
  bucket: string;
  prefix: string;
  writable: boolean;
  onOpen: (key: string) => void;
}

/** A folder with its path. */
export function ObjectList({ bucket, prefix, writable, onOpen }: ObjectListProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const pages = useInfiniteQuery(objectsQuery(svc, workspace, bucket, prefix));
  const entries = pages.data === undefined ? undefined : entriesOf(pages.data.pages, prefix);
  const selection = useSelection(entries ?? [], ({ kind, key }) => `${kind} ${key}`);
  const [deleting, setDeleting] = useState<readonly Entry[]>([]);
  const onDelete = writable ? setDeleting : null;
  return (
    <>
      <FolderBar
        steps={[{ name: bucket, prefix: '' }, ...stepsOf(prefix)].map((step) => ({
          name: step.name,
          link: {
            to: paths.bucket,
            params: { workspace: workspace.uuid, bucket },
            search: step.prefix === '' ? {} : { prefix: step.prefix },
          },
        }))}
      >
        <SelectionBar selection={selection}>
          <Button
            size="small"
            variant="danger"
            icon={<Trash2 size={13} />}
            onClick={() => setDeleting(selection.items)}
          >
            Delete
          </Button>
        </SelectionBar>
      </FolderBar>
      {pages.isError ? (
        <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
      ) : (
        <Table
          caption={`Objects in ${bucket}/${prefix}`}
          columns={entryColumns({ workspace, bucket, selection, onOpen, onDelete })}
          rows={entries}
          rowKey={(entry) => `${entry.kind} ${entry.key}`}
          skeletonRows={8}
          empty={<NothingHere prefix={prefix} writable={writable} />}
        />
      )}
      <LoadMore query={pages} />
      <DeleteEntriesDialog
        bucket={bucket}
        entries={deleting}
        onClose={() => setDeleting([])}
        onDeleted={selection.clear}
      />
    </>
  );
}

function NothingHere({ prefix, writable }: Pick<ObjectListProps, 'prefix' | 'writable'>) {
  return (
    <EmptyState icon={<FolderOpen size={18} />} title={prefix === '' ? 'This bucket is empty' : 'This folder is empty'}>
      {writable ? 'Drop files or folders here, or upload with any S3 client.' : 'No objects here yet.'}
    </EmptyState>
  );
}
