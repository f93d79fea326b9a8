import type { DeletedBucket } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Archive } from 'lucide-react';
import { deletedBucketsQuery, useStore } from '../../../api/object-store.ts';
import { storeKey } from '../../../api/query-keys.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useToasts } from '../../../ui/toast.tsx';

export function DeletedBucketsPage() {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  const deleted = useQuery(deletedBucketsQuery(svc, workspace));
  const restore = useMutation({
    mutationFn: ({ name }: DeletedBucket) => store.buckets.restore(name),
    onSuccess: (_bucket, { name }) => done(`${name} restored`),
    onError: (error, { name }) => failed(`Could not restore ${name}`, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: storeKey(workspace) }),
  });
  const restoring = restore.isPending ? restore.variables.name : null;
  return (
    <Page
      title="Deleted buckets"
      description="Restore a bucket with all its objects before it is purged."
      parent={{ label: 'Buckets', link: { to: paths.buckets, params: { workspace: workspace.uuid } } }}
    >
      {deleted.isError ? (
        <ErrorState error={deleted.error} onRetry={() => void deleted.refetch()} />
      ) : (
        <Table
          caption="Deleted buckets"
          columns={columns(mayWrite(workspace) ? restore.mutate : null, restoring)}
          rows={deleted.data}
          rowKey={(bucket) => bucket.name}
          empty={
            <EmptyState icon={<Archive size={18} />} title="No deleted buckets">
              Deleted buckets appear here until they are purged.
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}

type Restore = ((bucket: DeletedBucket) => void) | null;

function columns(onRestore: Restore, restoring: string | null): Column<DeletedBucket>[] {
  return [
    { id: 'name', header: 'Name', cell: (bucket) => bucket.name },
    {
      id: 'deleted',
      header: 'Deleted',
      width: '9rem',
      wideOnly: true,
      cell: ({ deleted_at: at }) => at !== null && <RelativeTime at={at} />,
    },
    {
      id: 'purge',
      header: 'Purged',
      width: '9rem',
      cell: ({ purge_at: at }) => at !== null && <RelativeTime at={at} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (bucket) =>
        onRestore !== null && (
          <Button
            size="small"
            pending={restoring === bucket.name}
            aria-label={`Restore ${bucket.name}`}
            onClick={() => onRestore(bucket)}
          >
            Restore
          </Button>
        ),
    },
  ];
}
