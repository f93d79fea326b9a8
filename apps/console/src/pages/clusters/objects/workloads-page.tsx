import type { ClusterInfo, Workload, Workspace } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { useClusters, workloadsQuery } from '../../../api/clusters.ts';
import { paths } from '../../../routes/paths.ts';
import { Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ListStack, TwoLines } from '../../../ui/list.tsx';
import { ObjectFilters } from './object-filters.tsx';
import { ObjectList } from './object-list.tsx';
import { workloadLabel } from './object-labels.ts';
import { KINDS, parseObjectsSearch, type ObjectsSearch } from './objects-search.ts';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/workloads');

const ANY = 'any';

export function WorkloadsPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { name, namespace, kind } = search;
  const filter = { ...(name && { name }), ...(namespace && { namespace }), ...(kind && { kind }) };
  const workloads = useInfiniteQuery(workloadsQuery(api, workspace, cluster, filter));
  const change = (next: ObjectsSearch): void => void navigate({ search: next, replace: true, resetScroll: false });
  const filtered = Object.keys(filter).length > 0;
  return (
    <ListStack>
      <ObjectFilters key={filtered ? 'filtered' : 'all'} what="workloads" search={search} onChange={change}>
        <Select
          label="Kind"
          labelHidden
          options={[{ value: ANY, label: 'All kinds' }, ...KINDS.map((each) => ({ value: each, label: each }))]}
          value={kind ?? ANY}
          onChange={(next) => change(parseObjectsSearch({ ...search, kind: next }))}
        />
      </ObjectFilters>
      <ObjectList<Workload>
        query={workloads}
        caption="Workloads"
        columns={workloadColumns(workspace, cluster)}
        rowKey={(each) => `${each.kind} ${each.namespace} ${each.name}`}
        empty={
          filtered ? (
            <EmptyState
              title="No matching workloads"
              action={<Button onClick={() => change({})}>Clear filters</Button>}
            />
          ) : (
            <EmptyState icon={<Boxes size={18} />} title="No workloads yet">
              Deployments, StatefulSets, DaemonSets, CronJobs and Jobs appear here.
            </EmptyState>
          )
        }
      />
    </ListStack>
  );
}

function workloadColumns(workspace: Workspace, cluster: ClusterInfo): Column<Workload>[] {
  const params = { workspace: workspace.uuid, cluster: cluster.id };
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ kind, name, namespace, selector }) => (
        <TwoLines whole under={`${kind} in ${namespace}`}>
          {selector === null ? (
            <span>{name}</span>
          ) : (
            <Link to={paths.clusterPods} params={params} search={{ namespace, selector }} title={`Pods of ${name}`}>
              {name}
            </Link>
          )}
        </TwoLines>
      ),
    },
    {
      id: 'state',
      header: 'Status',
      width: '8.5rem',
      cell: (workload) => {
        const { label: word, tone } = workloadLabel(workload);
        return <Status tone={tone}>{word}</Status>;
      },
    },
    {
      id: 'ready',
      header: 'Ready',
      align: 'end',
      width: '6rem',
      narrowWidth: '4.5rem',
      cell: ({ ready, desired }) => `${ready} / ${desired}`,
    },
    {
      id: 'images',
      header: 'Images',
      width: '18rem',
      wideOnly: true,
      cell: ({ images }) => <span title={images.join('\n')}>{images.join(', ')}</span>,
    },
    {
      id: 'age',
      header: 'Created',
      width: '7.5rem',
      wideOnly: true,
      cell: ({ created_at: at }) => <span className="muted">{at === null ? '–' : <RelativeTime at={at} />}</span>,
    },
  ];
}
