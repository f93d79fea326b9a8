import type { Usage, UsagePoint } from '@svc/sdk';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Table, type Column } from '../../../ui/table.tsx';
import { useNow } from '../../../ui/time.tsx';
import { formatPeriod } from './usage-series.ts';

/** Data of the plots, newest first. */
export function UsageTable({ usage }: { usage: Usage }) {
  const nowMs = useNow();
  const { resolution, points } = usage;
  const columns: Column<UsagePoint>[] = [
    {
      id: 'at',
      header: resolution === 'day' ? 'Day (UTC)' : 'Hour',
      cell: ({ at }) => <time dateTime={at}>{formatPeriod(Date.parse(at), resolution, nowMs)}</time>,
    },
    { ...figure, id: 'stored', header: 'Stored', cell: (point) => formatBytes(point.size_bytes) },
    { ...figure, id: 'objects', header: 'Objects', cell: (point) => formatCount(point.object_count) },
    {
      ...figure,
      id: 'requests',
      header: 'Requests',
      wideOnly: true,
      cell: (point) => formatCount(point.request_count),
    },
    { ...figure, id: 'in', header: 'Received', wideOnly: true, cell: (point) => formatBytes(point.bytes_in) },
    { ...figure, id: 'out', header: 'Sent', narrowWidth: '5rem', cell: (point) => formatBytes(point.bytes_out) },
  ];
  return (
    <Table
      caption="Usage over time"
      columns={columns}
      rows={points.toReversed()}
      rowKey={({ at }) => at}
      empty={null}
    />
  );
}

const figure = { align: 'end', width: '7.5rem', narrowWidth: '5.5rem' } as const;
