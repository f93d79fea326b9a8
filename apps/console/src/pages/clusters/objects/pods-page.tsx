import type { ClusterInfo, Pod, Workspace } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Container } from 'lucide-react';
import { podsQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Badge, Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { formatCount } from '../../../ui/format-number.ts';
import { EmptyState } from '../../../ui/states.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ListStack, TwoLines } from '../../../ui/list.tsx';
import { ObjectFilters } from './object-filters.tsx';
import { ObjectList } from './object-list.tsx';
import { formatCores, formatMemory, podLabel } from './object-labels.ts';
import styles from './objects.module.css';
import type { ObjectsSearch } from './objects-search.ts';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/pods');

export function PodsPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { name, namespace, selector, node } = search;
  const filter = {
    ...(name && { name }),
    ...(namespace && { namespace }),
    ...(selector && { labelSelector: selector }),
    ...(node && { node }),
  };
  const pods = useInfiniteQuery(podsQuery(api, workspace, cluster, filter));
  const change = (next: ObjectsSearch): void => void navigate({ search: next, replace: true, resetScroll: false });
  const filtered = Object.keys(filter).length > 0;
  return (
    <ListStack>
      <ObjectFilters key={filtered ? 'filtered' : 'all'} what="pods" search={search} onChange={change} />
      {(selector !== undefined || node !== undefined) && (
        <p className={styles['chosen']}>
          {selector !== undefined && <Badge>{selector}</Badge>}
          {node !== undefined && <Badge>on {node}</Badge>}
          <Button size="small" onClick={() => change({})}>
            Show all pods
          </Button>
        </p>
      )}
      <ObjectList<Pod>
        query={pods}
        caption="Pods"
        columns={podColumns(workspace, cluster)}
        rowKey={(pod) => `${pod.namespace} ${pod.name}`}
        empty={
          filtered ? (
            <EmptyState title="No matching pods" action={<Button onClick={() => change({})}>Clear filters</Button>} />
          ) : (
            <EmptyState icon={<Container size={18} />} title="No pods">
              Pods of all namespaces appear here, with logs and a shell.
            </EmptyState>
          )
        }
      />
    </ListStack>
  );
}

const figure = { align: 'end', width: '5rem', wideOnly: true } as const;

function podColumns(workspace: Workspace, cluster: ClusterInfo): Column<Pod>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, namespace }) => (
        <TwoLines whole title={name} under={`in ${namespace}`}>
          <Link to={paths.clusterPod} params={{ workspace: workspace.uuid, cluster: cluster.id, namespace, pod: name }}>
            {name}
          </Link>
        </TwoLines>
      ),
    },
    { id: 'state', header: 'Status', width: '10rem', narrowWidth: '9rem', cell: (pod) => <PodStatus pod={pod} /> },
    { ...figure, id: 'ready', header: 'Ready', cell: (pod) => `${pod.ready_containers} / ${pod.total_containers}` },
    { ...figure, id: 'restarts', header: 'Restarts', cell: ({ restarts }) => formatCount(restarts) },
    { ...figure, id: 'cpu', header: 'CPU', cell: (pod) => formatCores(pod.cpu_usage_cores) },
    { ...figure, id: 'memory', header: 'Memory', width: '6rem', cell: (pod) => formatMemory(pod.memory_usage_bytes) },
    {
      id: 'node',
      header: 'Node',
      width: '8rem',
      wideOnly: true,
      cell: ({ node }) => <span title={node ?? ''}>{node ?? '–'}</span>,
    },
    {
      id: 'age',
      header: 'Created',
      width: '6.5rem',
      wideOnly: true,
      cell: ({ created_at: at }) => <span className="muted">{at === null ? '–' : <RelativeTime at={at} />}</span>,
    },
  ];
}

export function PodStatus({ pod }: { pod: Pod }) {
  const { label, tone } = podLabel(pod);
  return <Status tone={tone}>{label}</Status>;
}
