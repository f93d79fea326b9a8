import type { Bucket, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Ellipsis, Settings, Trash2 } from 'lucide-react';
import { paths } from '../../../routes/paths.ts';
import { administers } from '../../../session/administers.ts';
import { Badge } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import styles from './buckets.module.css';

export function bucketColumns(workspace: Workspace, onDelete: (bucket: Bucket) => void): Column<Bucket>[] {
  return [
    { id: 'name', header: 'Name', cell: (bucket) => <NameCell workspace={workspace} bucket={bucket} /> },
    {
      id: 'objects',
      header: 'Objects',
      align: 'end',
      width: '6.5rem',
      wideOnly: true,
      cell: (bucket) => formatCount(bucket.object_count),
    },
    { id: 'size', header: 'Size', align: 'end', width: '6.5rem', cell: (bucket) => formatBytes(bucket.size_bytes) },
    {
      id: 'created',
      header: 'Created',
      width: '9rem',
      wideOnly: true,
      cell: (bucket) => (
        <span className="muted">
          <RelativeTime at={bucket.created_at} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(var(--control-small) + 2rem)',
      cell: (bucket) => administers(workspace) && <Actions workspace={workspace} bucket={bucket} onDelete={onDelete} />,
    },
  ];
}

function NameCell({ workspace, bucket }: { workspace: Workspace; bucket: Bucket }) {
  return (
    <span className={styles['name']}>
      <Link to={paths.bucket} params={{ workspace: workspace.uuid, bucket: bucket.name }}>
        {bucket.name}
      </Link>
      {bucket.publicDefault && <Badge tone="warn">public</Badge>}
      <span className={styles['features']}>
        {bucket.versioning === 'enabled' && <Badge>versioned</Badge>}
        {bucket.encryption_mode === 'sse-s3' && <Badge>encrypted</Badge>}
      </span>
    </span>
  );
}

interface ActionsProps {
  workspace: Workspace;
  bucket: Bucket;
  onDelete: (bucket: Bucket) => void;
}

function Actions({ workspace, bucket, onDelete }: ActionsProps) {
  const params = { workspace: workspace.uuid, bucket: bucket.name };
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={`Actions for ${bucket.name}`} size="small">
          <Ellipsis size={15} />
        </IconButton>
      }
    >
      <MenuItem icon={<Settings size={14} />} render={<Link to={paths.bucketSettings} params={params} />}>
        Settings
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 size={14} />} tone="danger" onClick={() => onDelete(bucket)}>
        Delete…
      </MenuItem>
    </Menu>
  );
}
