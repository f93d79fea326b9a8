import type { SandboxCluster, Snapshot } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Table } from '../../../ui/table.tsx';
import { DeleteSnapshotDialog } from './delete-snapshot-dialog.tsx';
import { snapshotColumns, type SnapshotOrigin, nameOf } from './snapshot-columns.tsx';
import { useMutation, useQuery } from '@tanstack/react-query';
import { sandboxClustersQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { NameDialog } from './name-dialog.tsx';
import { useOpened } from './use-opened.ts';

export interface SnapshotTableProps {
  caption: string;
  snapshots: readonly Snapshot[] | undefined;
  /** Renders the source sandbox in lists across sandboxes. */
  origin?: SnapshotOrigin;
  empty: ReactNode;
}

/** Snapshots with their actions. */
export function SnapshotTable({ caption, snapshots, origin, empty }: SnapshotTableProps) {
  const workspace = useWorkspace();
  const [using, setUsing] = useState<Snapshot | null>(null);
  const [deleting, setDeleting] = useState<Snapshot | null>(null);
  const actions = mayWrite(workspace) ? { use: setUsing, remove: setDeleting } : null;
  return (
    <>
      <Table
        caption={caption}
        columns={snapshotColumns(actions, origin)}
        rows={snapshots}
        rowKey={({ id }) => id}
        empty={empty}
      />
      <NewFromSnapshotDialog snapshot={using} onClose={() => setUsing(null)} />
      <DeleteSnapshotDialog snapshot={deleting} onClose={() => setDeleting(null)} />
    </>
  );
}

function NewFromSnapshotDialog({ snapshot, onClose }: { snapshot: Snapshot | null; onClose: () => void }) {
  const api = useSandboxes();
  const opened = useOpened(onClose);
  const cluster = useClusterFor(snapshot);
  const creation = useMutation({
    mutationFn: async (name: string) => {
      const place = cluster === null ? {} : { cluster: cluster.id };
      const request = { snapshot_id: snapshot?.id ?? '', ...place, ...(name !== '' && { name }) };
      return (await api.create(request, { waitMs: 0 })).id;
    },
    onSuccess: opened,
  });
  return (
    <NameDialog
      open={snapshot !== null}
      onClose={onClose}
      title="New sandbox"
      description={
        snapshot === null
          ? ''
          : `Starts with the files of ${nameOf(snapshot)}${cluster === null ? '' : `, in the cluster ${cluster.name}`}.`
      }
      action="Create sandbox"
      state={creation}
      onSubmit={creation.mutate}
    />
  );
}

/** A snapshot of a cluster continues there, or in another connected cluster if that one is gone. Null: on the platform. */
function useClusterFor(snapshot: Snapshot | null): Pick<SandboxCluster, 'id' | 'name'> | null {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const wanted = snapshot?.cluster_id ?? null;
  const clusters = useQuery({ ...sandboxClustersQuery(api, workspace), enabled: wanted !== null });
  if (wanted === null) return null;
  const available = clusters.data ?? [];
  return available.find(({ id }) => id === wanted) ?? available.find(({ connected }) => connected) ?? null;
}
