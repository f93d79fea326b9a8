import { NotFoundError, type ClusterInfo } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { clusterQuery, useClusters } from '../../../api/clusters.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { Page, Panel } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { TabLinks } from '../../../ui/tab-links.tsx';
import { AgentAway } from './agent-away.tsx';
import { clusterWords } from './cluster-words.ts';
import styles from './detail.module.css';
import { useLiveCluster } from './use-live-cluster.ts';

const TABS = [
  ['overview', 'Overview', paths.cluster],
  ['nodes', 'Nodes', paths.clusterNodes],
  ['workloads', 'Workloads', paths.clusterWorkloads],
  ['pods', 'Pods', paths.clusterPods],
  ['deployments', 'Deployments', paths.clusterDeployments],
  ['events', 'Events', paths.clusterEvents],
  ['settings', 'Settings', paths.clusterSettings],
] as const;

export interface ClusterPageProps {
  current: (typeof TABS)[number][0];
  actions?: (cluster: ClusterInfo) => ReactNode;
  width?: 'normal' | 'narrow';
  children: (cluster: ClusterInfo) => ReactNode;
}

/** The cluster that the URL names, by its id. */
export function useClusterId(): string {
  const { cluster } = useParams({ strict: false });
  if (cluster === undefined) throw new Error('the page has no cluster in its path');
  return cluster;
}

/** The frame of all pages of one cluster, with its state as it is now. */
export function ClusterPage({ current, actions, width = 'normal', children }: ClusterPageProps) {
  const api = useClusters();
  const workspace = useWorkspace();
  const id = useClusterId();
  const cluster = useQuery(clusterQuery(api, workspace, id));
  useLiveCluster(id);
  const params = { workspace: workspace.uuid, cluster: id };
  const { data } = cluster;
  const gone = cluster.error instanceof NotFoundError;
  return (
    <Page
      title={data?.name ?? 'Cluster'}
      parent={{ label: 'Clusters', link: { to: paths.clusters, params: { workspace: workspace.uuid } } }}
      description={data === undefined ? <Skeleton width="14rem" /> : <Description cluster={data} />}
      actions={data !== undefined && !gone && actions?.(data)}
      width={width}
      navigation={
        <TabLinks
          label="Cluster"
          tabs={TABS.map(([tab, label, to]) => ({ label, link: { to, params }, current: tab === current }))}
        />
      }
    >
      {gone ? (
        <Panel padded={false}>
          <EmptyState title="Cluster not found">It may have been deleted.</EmptyState>
        </Panel>
      ) : data === undefined ? (
        cluster.isError ? (
          <ErrorState error={cluster.error} onRetry={() => void cluster.refetch()} />
        ) : (
          <Skeleton width="100%" height="20rem" />
        )
      ) : (
        <>
          <AgentAway cluster={data} />
          {children(data)}
        </>
      )}
    </Page>
  );
}

function Description({ cluster }: { cluster: ClusterInfo }) {
  const { word, tone, live } = clusterWords(cluster);
  return (
    <span className={styles['title']}>
      <Status tone={tone} live={live}>
        {word}
      </Status>
      {cluster.kubernetes_version !== null && <span>Kubernetes {cluster.kubernetes_version}</span>}
      {cluster.agent_version !== null && <span>Agent {cluster.agent_version}</span>}
    </span>
  );
}
