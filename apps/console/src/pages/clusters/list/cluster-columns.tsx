import type { ClusterInfo, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { paths } from '../../../routes/paths.ts';
import { Status } from '../../../ui/badge.tsx';
import { formatCount, formatPercent } from '../../../ui/format-number.ts';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import { clusterLabel } from '../detail/cluster-labels.ts';

const figure = { align: 'end', width: '5.5rem', wideOnly: true } as const;

export function clusterColumns(workspace: Workspace): Column<ClusterInfo>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ id, name, kubernetes_version: version }) => (
        <TwoLines under={version !== null && `Kubernetes ${version}`}>
          <Link to={paths.cluster} params={{ workspace: workspace.uuid, cluster: id }}>
            {name}
          </Link>
        </TwoLines>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: '12rem',
      narrowWidth: '11rem',
      cell: (cluster) => {
        const { label, tone, live } = clusterLabel(cluster);
        return (
          <Status tone={tone} live={live}>
            {label}
          </Status>
        );
      },
    },
    { ...figure, id: 'nodes', header: 'Nodes', cell: ({ nodes }) => counted(nodes) },
    { ...figure, id: 'pods', header: 'Pods', cell: ({ pods }) => counted(pods) },
    { ...figure, id: 'cpu', header: 'CPU', cell: ({ heartbeat }) => share(heartbeat?.cpu_usage) },
    { ...figure, id: 'memory', header: 'Memory', cell: ({ heartbeat }) => share(heartbeat?.memory_usage) },
    {
      id: 'seen',
      header: 'Last seen',
      width: '8rem',
      wideOnly: true,
      cell: ({ last_seen_at: at }) => <span className="muted">{at === null ? 'Never' : <RelativeTime at={at} />}</span>,
    },
  ];
}

function counted(count: number | null): string {
  return count === null ? '–' : formatCount(count);
}

function share(fraction: number | undefined): string {
  return fraction === undefined ? '–' : formatPercent(fraction * 100);
}
