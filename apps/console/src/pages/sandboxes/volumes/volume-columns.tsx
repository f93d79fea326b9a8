import type { Volume, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { paths } from '../../../routes/paths.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { TwoLines } from '../../../ui/list.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import styles from './volumes.module.css';

export interface VolumeActions {
  resize: (volume: Volume) => void;
  remove: (volume: Volume) => void;
}

/** `actions` is null for read-only users. */
export function volumeColumns({ uuid: workspace }: Workspace, actions: VolumeActions | null): Column<Volume>[] {
  const columns: Column<Volume>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: (volume) => (
        <TwoLines title={volume.id} under={describeMounts(volume)}>
          <Link to={paths.volume} params={{ workspace, volume: volume.name }}>
            {volume.name}
          </Link>
        </TwoLines>
      ),
    },
    {
      id: 'size',
      header: 'Size',
      align: 'end',
      width: '6rem',
      narrowWidth: '5rem',
      cell: (volume) => formatBytes(volume.size_mb * 1024 ** 2),
    },
    {
      id: 'created',
      header: 'Created',
      width: '8rem',
      wideOnly: true,
      cell: (volume) => (
        <span className="muted">
          <RelativeTime at={volume.created_at} />
        </span>
      ),
    },
  ];
  if (actions === null) return columns;
  const column: Column<Volume> = {
    id: 'actions',
    header: 'Actions',
    headerHidden: true,
    align: 'end',
    width: '9rem',
    narrowWidth: '8.25rem',
    cell: (volume) => (
      <span className={styles['actions']}>
        <Button size="small" onClick={() => actions.resize(volume)}>
          Resize
        </Button>
        <IconButton label={`Delete ${volume.name}`} size="small" onClick={() => actions.remove(volume)}>
          <Trash2 size={15} />
        </IconButton>
      </span>
    ),
  };
  return [...columns, column];
}

function describeMounts({ mounted_by: mounters }: Volume): string {
  if (mounters.length === 0) return 'not mounted';
  const names = mounters.map((each) => `${each.sandbox_name}${each.read_only ? ' (read-only)' : ''}`);
  return `mounted by ${names.join(', ')}`;
}
