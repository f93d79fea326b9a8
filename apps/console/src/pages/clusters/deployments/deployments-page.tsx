import type { Deployment } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { deploymentsQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { FilterField, FilterForm } from '../../../ui/filter-form.tsx';
import { ListStack, LoadMore } from '../../../ui/list.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { ONLY_MEMBERS } from '../detail/cluster-labels.ts';
import { DeployLink } from '../overview/cluster-overview-page.tsx';
import { deploymentColumns } from './deployment-columns.tsx';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/deployments');

export function DeploymentsPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const { project } = route.useSearch();
  const navigate = route.useNavigate();
  const deployments = useInfiniteQuery(deploymentsQuery(api, workspace, cluster.id, project));
  const search = (wanted: string | undefined): void =>
    void navigate({ search: wanted === undefined ? {} : { project: wanted }, replace: true, resetScroll: false });
  if (deployments.isError && deployments.data === undefined) {
    return <ErrorState error={deployments.error} onRetry={() => void deployments.refetch()} />;
  }
  return (
    <ListStack>
      <PageActions>
        <DeployLink cluster={cluster} />
      </PageActions>
      <FilterForm label="Filter deployments">
        <FilterField
          label="Project"
          placeholder="Project (exact match)"
          value={project}
          maxLength={63}
          onApply={search}
        />
      </FilterForm>
      <Table<Deployment>
        caption="Deployments, newest first"
        columns={deploymentColumns(workspace, cluster)}
        rows={deployments.data?.pages.flatMap(({ items }) => items)}
        rowKey={({ id }) => id}
        empty={
          project === undefined ? (
            <EmptyState
              icon={<Rocket size={18} />}
              title="No deployments yet"
              action={<DeployLink cluster={cluster} />}
            >
              Deploy a manifest: the agent applies it and reports progress until it is ready.
              {!mayWrite(workspace) && ` ${ONLY_MEMBERS}`}
            </EmptyState>
          ) : (
            <EmptyState
              title="No matching deployments"
              action={<Button onClick={() => search(undefined)}>Show all</Button>}
            >
              No deployments in project {project}.
            </EmptyState>
          )
        }
      />
      <LoadMore query={deployments} label="Load older" />
    </ListStack>
  );
}
