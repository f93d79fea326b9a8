import type { ClusterInfo } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { formatCount } from '../../../ui/format-number.ts';
import { Definitions, Panel, Section, PageActions } from '../../../ui/page.tsx';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { ClusterWarnings } from '../detail/cluster-warnings.tsx';
import { HeartbeatHistory } from './heartbeat-history.tsx';

export function ClusterOverviewPage() {
  const cluster = useCluster();
  return (
    <>
      <PageActions>
        <DeployLink cluster={cluster} />
      </PageActions>
      <ClusterWarnings cluster={cluster} />
      {cluster.status !== 'pending' && <HeartbeatHistory cluster={cluster} />}
      <Section title="Details">
        <Panel>
          <Definitions items={renderFacts(cluster)} />
        </Panel>
      </Section>
    </>
  );
}

export function DeployLink({ cluster }: { cluster: ClusterInfo }) {
  const workspace = useWorkspace();
  if (!mayWrite(workspace)) return null;
  return (
    <Link
      to={paths.clusterDeploy}
      params={{ workspace: workspace.uuid, cluster: cluster.id }}
      className={buttonClass({ variant: 'primary' })}
    >
      <Rocket size={15} /> Deploy
    </Link>
  );
}

type Fact = readonly [name: string, value: ReactNode];

function renderFacts(cluster: ClusterInfo): Fact[] {
  const since = cluster.connected ? cluster.connected_at : null;
  const { heartbeat, status_at: countedAt } = cluster;
  const counted = (count: number | null): ReactNode => (count === null ? 'Unknown' : formatCount(count));
  return [
    ['ID', <code key="id">{cluster.id}</code>],
    ['Agent', cluster.agent_version ?? 'Not connected yet'],
    ['Kubernetes', cluster.kubernetes_version ?? 'Unknown'],
    ['Connected', since === null ? 'No' : <RelativeTime key="since" at={since} />],
    ['Last seen', cluster.last_seen_at === null ? 'Never' : <AbsoluteTime key="seen" at={cluster.last_seen_at} />],
    ['Health', cluster.health ?? heartbeat?.status ?? 'Unknown'],
    ['Nodes', counted(cluster.nodes)],
    ['Pods', counted(cluster.pods)],
    ['Services', counted(cluster.services)],
    ...(countedAt === null ? [] : [['Counts updated', <RelativeTime key="counted" at={countedAt} />] as const]),
    ['Capabilities', cluster.capabilities.length === 0 ? 'Default' : cluster.capabilities.join(', ')],
    ['Added', <AbsoluteTime key="added" at={cluster.created_at} />],
  ];
}
