import type { Snapshot } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Table } from '../../../ui/table.tsx';
import { DeleteSnapshotDialog } from './delete-snapshot-dialog.tsx';
import { snapshotColumns, type SnapshotOrigin, nameOf } from './snapshot-columns.tsx';
import { useMutation } from '@tanstack/react-query';
import { useSandboxes } from '../../../api/sandboxes.ts';
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
  const creation = useMutation({
    mutationFn: async (name: string) => {
      const request = { snapshot_id: snapshot?.id ?? '', ...(name !== '' && { name }) };
      return (await api.create(request, { waitMs: 0 })).id;
    },
    onSuccess: opened,
  });
  return (
    <NameDialog
      open={snapshot !== null}
      onClose={onClose}
      title="New sandbox"
      description={snapshot === null ? '' : `Starts with the files of ${nameOf(snapshot)}.`}
      action="Create sandbox"
      state={creation}
      onSubmit={creation.mutate}
    />
  );
}
