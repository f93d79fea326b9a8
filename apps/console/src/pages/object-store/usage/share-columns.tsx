import type { Bucket, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { paths } from '../../../routes/paths.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Meter } from '../../../ui/plots.tsx';
import type { Column } from '../../../ui/table.tsx';

/** `total`: bytes of all buckets. */
export function shareColumns(workspace: Workspace, total: number): Column<Bucket>[] {
  return [
    {
      id: 'name',
      header: 'Bucket',
      cell: ({ name }) => (
        <Link to={paths.bucketUsage} params={{ workspace: workspace.uuid, bucket: name }}>
          {name}
        </Link>
      ),
    },
    {
      id: 'share',
      header: 'Share',
      width: '14rem',
      wideOnly: true,
      cell: ({ name, size_bytes: size }) => (
        <Meter label={`Share of ${name}`} value={size} limit={total} tone="share" text={formatPercent(size, total)} />
      ),
    },
    { ...figure, id: 'size', header: 'Stored', cell: (bucket) => formatBytes(bucket.size_bytes) },
    { ...figure, id: 'objects', header: 'Objects', cell: (bucket) => formatCount(bucket.object_count) },
  ];
}

const figure = { align: 'end', width: '7.5rem', narrowWidth: '5.5rem' } as const;

function formatPercent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((part / whole) * 100)}%`;
}
