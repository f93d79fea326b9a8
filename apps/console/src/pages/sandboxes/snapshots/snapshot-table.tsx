import type { Snapshot } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Table } from '../../../ui/table.tsx';
import { DeleteSnapshotDialog } from './delete-snapshot-dialog.tsx';
import { NewFromSnapshotDialog } from './new-from-snapshot-dialog.tsx';
import { snapshotColumns, type SnapshotOrigin } from './snapshot-columns.tsx';

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
