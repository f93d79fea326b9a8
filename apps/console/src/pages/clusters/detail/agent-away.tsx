import type { ClusterInfo } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Unplug } from 'lucide-react';
import { paths } from '../../../routes/paths.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import styles from './detail.module.css';

/** Says that nobody answers from the cluster, and how old what stands below is. Nothing while its agent is there. */
export function AgentAway({ cluster }: { cluster: ClusterInfo }) {
  const workspace = useWorkspace();
  if (cluster.connected) return null;
  const { status, last_seen_at: seenAt } = cluster;
  const settings = (
    <Link to={paths.clusterSettings} params={{ workspace: workspace.uuid, cluster: cluster.id }}>
      Settings
    </Link>
  );
  if (status === 'pending' || seenAt === null) {
    return (
      <section className={styles['away']} role="status">
        <Unplug size={16} />
        <div>
          <h2>No agent has connected yet</h2>
          <p>
            Run the install commands of this cluster.
            {administers(workspace) && <> Create a new token with new commands in {settings}.</>}
          </p>
        </div>
      </section>
    );
  }
  return (
    <section className={styles['away']} role="status">
      <Unplug size={16} />
      <div>
        <h2>{status === 'offline' ? 'The agent is offline' : 'The agent is reconnecting'}</h2>
        <p>
          Last heartbeat <RelativeTime at={seenAt} /> (<AbsoluteTime at={seenAt} />
          ). The data below is from then, and the cluster cannot be changed until the agent reconnects. Check that its
          pod is running and can reach this platform.
        </p>
      </div>
    </section>
  );
}
