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
            {administers(workspace) && <> A new token with new commands is made under {settings}.</>}
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
          It was heard last <RelativeTime at={seenAt} />, on <AbsoluteTime at={seenAt} />. What stands here is as it was
          then, and nothing can be done in the cluster until it is back. See whether its pod runs, and whether it
          reaches this platform.
        </p>
      </div>
    </section>
  );
}
