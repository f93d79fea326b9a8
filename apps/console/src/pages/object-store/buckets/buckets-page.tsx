import type { Bucket } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Archive, ChartColumn, Database, Plus } from 'lucide-react';
import { useState } from 'react';
import { bucketsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { bucketColumns } from './bucket-columns.tsx';
import { CreateBucketDialog } from './create-bucket-dialog.tsx';
import { DeleteBucketDialog } from './delete-bucket-dialog.tsx';

const route = getRouteApi('/shell/w/$workspace/buckets');

export function BucketsPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const buckets = useQuery(bucketsQuery(svc, workspace));
  const [deleting, setDeleting] = useState<Bucket | null>(null);
  const openCreate = (open: boolean): void =>
    void navigate({ search: open ? { create: true } : {}, replace: true, resetScroll: false });
  const newBucket = mayWrite(workspace) && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
      New bucket
    </Button>
  );
  return (
    <Page
      title="Buckets"
      description="Store objects and access them from any S3 client or the browser."
      actions={
        <>
          <Link to={paths.usage} params={{ workspace: workspace.uuid }} className={buttonClass()}>
            <ChartColumn size={15} /> Usage
          </Link>
          <Link to={paths.deletedBuckets} params={{ workspace: workspace.uuid }} className={buttonClass()}>
            <Archive size={15} /> Deleted
          </Link>
          {newBucket}
        </>
      }
    >
      {buckets.isError ? (
        <ErrorState error={buckets.error} onRetry={() => void buckets.refetch()} />
      ) : (
        <Table
          caption="Buckets"
          columns={bucketColumns(workspace, setDeleting)}
          rows={buckets.data}
          rowKey={(bucket) => bucket.name}
          empty={
            <EmptyState icon={<Database size={18} />} title="No buckets yet" action={newBucket}>
              Create a bucket to store objects. Bucket names are unique across the platform.
            </EmptyState>
          }
        />
      )}
      <CreateBucketDialog open={create === true} onClose={() => openCreate(false)} />
      <DeleteBucketDialog bucket={deleting} onClose={() => setDeleting(null)} />
    </Page>
  );
}
