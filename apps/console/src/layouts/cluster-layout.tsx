import { NotFoundError, type ClusterInfo } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import { clusterQuery, createClustersClient, useClusters } from '../api/clusters.ts';
import { scopeOf } from '../api/queries.ts';
import { AgentAway } from '../pages/clusters/detail/agent-away.tsx';
import { clusterLabel } from '../pages/clusters/detail/cluster-labels.ts';
import { useLiveCluster } from '../pages/clusters/detail/use-live-cluster.ts';
import { requireResource, type RouterContext } from '../routes/guards.ts';
import { paths } from '../routes/paths.ts';
import { useWorkspace } from '../session/use-session.ts';
import { Status } from '../ui/badge.tsx';
import { FactLine } from '../ui/fact-line.tsx';
import { ErrorState, LoadingRegion, Skeleton } from '../ui/states.tsx';
import { MissingPage } from './missing-page.tsx';
import { TabbedPage, type Tab } from './tabbed-page.tsx';

const TABS: readonly Tab[] = [
  { label: 'Overview', to: paths.cluster },
  { label: 'Nodes', to: paths.clusterNodes },
  { label: 'Workloads', to: paths.clusterWorkloads },
  { label: 'Pods', to: paths.clusterPods },
  { label: 'Deployments', to: paths.clusterDeployments, also: [paths.clusterDeploy] },
  { label: 'Events', to: paths.clusterEvents },
  { label: 'Settings', to: paths.clusterSettings, narrow: true },
];

export function loadCluster(context: RouterContext, params: { workspace: string; cluster: string }): Promise<void> {
  return requireResource(context, params.workspace, async (workspace) => {
    const api = createClustersClient(context.svc, scopeOf(workspace));
    await context.queryClient.ensureQueryData(clusterQuery(api, workspace, params.cluster));
  });
}

const ClusterContext = createContext<ClusterInfo | null>(null);

/** The cluster in the URL with its live state; for pages below the layout. */
export function useCluster(): ClusterInfo {
  const cluster = useContext(ClusterContext);
  if (cluster === null) throw new Error('useCluster outside of ClusterLayout');
  return cluster;
}

export function ClusterLayout() {
  const api = useClusters();
  const workspace = useWorkspace();
  const { cluster: id = '' } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(clusterQuery(api, workspace, id));
  useLiveCluster(id);
  if (error instanceof NotFoundError) return <MissingCluster />;
  return (
    <TabbedPage
      title={data?.name ?? 'Cluster'}
      parent={{ label: 'Clusters', link: { to: paths.clusters, params: { workspace: workspace.uuid } } }}
      description={data === undefined ? <Skeleton width="14rem" /> : <Description cluster={data} />}
      label="Cluster"
      tabs={TABS}
      params={{ workspace: workspace.uuid, cluster: id }}
    >
      {data !== undefined ? (
        <ClusterContext value={data}>
          <AgentAway cluster={data} />
          <Outlet />
        </ClusterContext>
      ) : error === null ? (
        <LoadingRegion height="20rem" />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </TabbedPage>
  );
}

export function MissingCluster() {
  const params = { workspace: useWorkspace().uuid };
  return <MissingPage what="Cluster" parent={{ label: 'Clusters', link: { to: paths.clusters, params } }} />;
}

function Description({ cluster }: { cluster: ClusterInfo }) {
  const { label, tone, live } = clusterLabel(cluster);
  return (
    <FactLine>
      <Status tone={tone} live={live}>
        {label}
      </Status>
      {cluster.kubernetes_version !== null && <span>Kubernetes {cluster.kubernetes_version}</span>}
      {cluster.agent_version !== null && <span>Agent {cluster.agent_version}</span>}
    </FactLine>
  );
}
