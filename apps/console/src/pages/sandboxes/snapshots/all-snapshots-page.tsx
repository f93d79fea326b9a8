import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Camera } from 'lucide-react';
import { sandboxListQuery, snapshotsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { useLiveSandboxes } from '../detail/use-live-sandboxes.ts';
import { SandboxesTabs } from '../list/sandboxes-tabs.tsx';
import type { SnapshotOrigin } from './snapshot-columns.tsx';
import { SnapshotTable } from './snapshot-table.tsx';

/** Snapshots of all sandboxes, including deleted ones: they use disk space until they are deleted. */
export function AllSnapshotsPage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const snapshots = useQuery(snapshotsQuery(api, workspace));
  const origin = useOrigin();
  useLiveSandboxes(null);
  const sizeBytes = snapshots.data?.reduce((sum, { size_bytes: size }) => sum + size, 0) ?? 0;
  return (
    <Page
      title="Snapshots"
      description={
        sizeBytes === 0
          ? 'Point-in-time copies of sandbox files. Create new sandboxes from them.'
          : `Point-in-time copies of sandbox files. Create new sandboxes from them. Total size: ${formatBytes(sizeBytes)}.`
      }
      navigation={<SandboxesTabs current="snapshots" />}
    >
      {snapshots.isError ? (
        <ErrorState error={snapshots.error} onRetry={() => void snapshots.refetch()} />
      ) : (
        <SnapshotTable
          caption="Snapshots of all sandboxes"
          snapshots={snapshots.data}
          origin={origin}
          empty={
            <EmptyState icon={<Camera size={18} />} title="No snapshots yet">
              Take a snapshot on a sandbox’s page. It is kept when the sandbox is deleted.
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}

/** Name of a snapshot's sandbox, if it still exists and is known. */
function useOrigin(): SnapshotOrigin {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const sandboxes = useInfiniteQuery(sandboxListQuery(api, workspace, { status: undefined, label: undefined }));
  const names = new Map(sandboxes.data?.pages.flatMap(({ items }) => items).map(({ id, name }) => [id, name]));
  const isWhole = sandboxes.data !== undefined && !sandboxes.hasNextPage;
  return ({ sandbox_id: id }) => {
    const name = names.get(id);
    if (name === undefined) return isWhole ? 'a deleted sandbox' : id;
    return (
      <Link to={paths.sandboxSnapshots} params={{ workspace: workspace.uuid, sandbox: id }}>
        {name}
      </Link>
    );
  };
}
