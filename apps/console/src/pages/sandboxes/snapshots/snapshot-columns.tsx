import type { Snapshot } from '@svc/sdk';
import { Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import styles from './snapshots.module.css';

export interface SnapshotActions {
  use: (snapshot: Snapshot) => void;
  remove: (snapshot: Snapshot) => void;
}

/** The snapshot's source sandbox. */
export type SnapshotOrigin = (snapshot: Snapshot) => ReactNode;

/** `actions` is null for read-only users. */
export function snapshotColumns(actions: SnapshotActions | null, origin?: SnapshotOrigin): Column<Snapshot>[] {
  const columns: Column<Snapshot>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: (snapshot) => (
        <TwoLines title={snapshot.id} under={origin !== undefined && <>from {origin(snapshot)}</>}>
          {nameOf(snapshot)}
        </TwoLines>
      ),
    },
    { id: 'image', header: 'Image', width: '8rem', wideOnly: true, cell: ({ image }) => image },
    {
      id: 'size',
      header: 'Size',
      align: 'end',
      width: '6rem',
      wideOnly: true,
      cell: (snapshot) => formatBytes(snapshot.size_bytes),
    },
    {
      id: 'taken',
      header: 'Taken',
      width: '8rem',
      wideOnly: true,
      cell: (snapshot) => (
        <span className="muted">
          <RelativeTime at={snapshot.created_at} />
        </span>
      ),
    },
  ];
  if (actions === null) return columns;
  const column: Column<Snapshot> = {
    id: 'actions',
    header: 'Actions',
    headerHidden: true,
    align: 'end',
    width: '11.5rem',
    cell: (snapshot) => (
      <span className={styles['actions']}>
        <Button size="small" onClick={() => actions.use(snapshot)}>
          New sandbox
        </Button>
        <IconButton label={`Delete ${nameOf(snapshot)}`} size="small" onClick={() => actions.remove(snapshot)}>
          <Trash2 size={15} />
        </IconButton>
      </span>
    ),
  };
  return [...columns, column];
}

export function nameOf({ name, id }: Snapshot): string {
  return name ?? id;
}
