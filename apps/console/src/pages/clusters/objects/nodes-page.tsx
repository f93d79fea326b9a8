import type { ClusterInfo, ClusterNode, Workspace } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Server } from 'lucide-react';
import { nodesQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ListStack, TwoLines } from '../../../ui/list.tsx';
import { ObjectFilters } from './object-filters.tsx';
import { ObjectList } from './object-list.tsx';
import { formatCores, formatMemory, nodeLabel, formatUsed } from './object-labels.ts';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/nodes');

export function NodesPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const nodes = useInfiniteQuery(nodesQuery(api, workspace, cluster, search.name));
  return (
    <ListStack>
      <ObjectFilters
        what="nodes"
        search={search}
        withNamespace={false}
        onChange={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
      />
      <ObjectList<ClusterNode>
        query={nodes}
        caption="Nodes"
        columns={nodeColumns(workspace, cluster)}
        rowKey={({ name }) => name}
        empty={<EmptyState icon={<Server size={18} />} title="No nodes" />}
      />
    </ListStack>
  );
}

const figure = { align: 'end', width: '9.5rem', wideOnly: true } as const;

function nodeColumns(workspace: Workspace, cluster: ClusterInfo): Column<ClusterNode>[] {
  const params = { workspace: workspace.uuid, cluster: cluster.id };
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, roles }) => (
        <TwoLines whole under={roles.length === 0 ? 'worker' : roles.join(', ')}>
          <Link to={paths.clusterPods} params={params} search={{ node: name }} title={`Pods on ${name}`}>
            {name}
          </Link>
        </TwoLines>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      width: '9rem',
      cell: (node) => {
        const { label, tone } = nodeLabel(node);
        return <Status tone={tone}>{label}</Status>;
      },
    },
    {
      ...figure,
      id: 'cpu',
      header: 'CPU',
      cell: (node) => formatUsed(node.cpu_usage_cores, node.cpu_capacity_cores, formatCores),
    },
    {
      ...figure,
      id: 'memory',
      header: 'Memory',
      width: '12rem',
      cell: (node) => formatUsed(node.memory_usage_bytes, node.memory_capacity_bytes, formatMemory),
    },
    { id: 'kubelet', header: 'Kubelet', width: '8rem', wideOnly: true, cell: (node) => node.kubelet_version ?? '–' },
    {
      id: 'age',
      header: 'Created',
      width: '7.5rem',
      narrowWidth: '6.5rem',
      cell: ({ created_at: at }) => <span className="muted">{at === null ? '–' : <RelativeTime at={at} />}</span>,
    },
  ];
}
