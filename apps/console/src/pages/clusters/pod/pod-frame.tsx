import type { ClusterInfo, Pod } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { podQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Panel } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { TabLinks } from '../../../ui/tab-links.tsx';
import { PodStatus } from '../objects/pods-page.tsx';
import styles from './pod.module.css';

const TABS = [
  ['logs', 'Logs', paths.clusterPod],
  ['shell', 'Shell', paths.clusterPodShell],
] as const;

export interface PodFrameProps {
  current: (typeof TABS)[number][0];
  children: (cluster: ClusterInfo, pod: Pod) => ReactNode;
}

/** Common frame of a pod's pages. */
export function PodFrame({ current, children }: PodFrameProps) {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const { namespace, pod: name } = useParams({ strict: false });
  if (namespace === undefined || name === undefined) throw new Error('the page has no pod in its path');
  const pod = useQuery(podQuery(api, workspace, cluster, { namespace, pod: name }));
  const found = pod.data ?? null;
  const params = { workspace: workspace.uuid, cluster: cluster.id };
  return (
    <div className={styles['pod']} aria-busy={pod.isPending}>
      <Link to={paths.clusterPods} params={params} className={styles['back']}>
        <ChevronLeft size={13} /> All pods
      </Link>
      <header className={styles['head']}>
        <h2>{name}</h2>
        <span className="muted">in {namespace}</span>
        {found !== null && <PodStatus pod={found} />}
        {found !== null && found.restarts > 0 && <span className="muted">{formatCount(found.restarts)} restarts</span>}
      </header>
      {found !== null && found.message !== null && (
        <p className={styles['why']} role="status">
          {found.message}
        </p>
      )}
      <TabLinks
        label="Pod"
        tabs={TABS.map(([tab, label, to]) => ({
          label,
          link: { to, params: { ...params, namespace, pod: name } },
          current: tab === current,
        }))}
      />
      {pod.data === undefined ? (
        pod.isError ? (
          <ErrorState error={pod.error} onRetry={() => void pod.refetch()} />
        ) : (
          <Skeleton width="100%" height="24rem" />
        )
      ) : found === null ? (
        <Panel padded={false}>
          <EmptyState title="Pod not found">It may have been deleted or replaced by its workload.</EmptyState>
        </Panel>
      ) : (
        children(cluster, found)
      )}
    </div>
  );
}
