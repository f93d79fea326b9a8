import type { ClusterInfo } from '@svc/sdk';
import { Unplug } from 'lucide-react';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { InstallButton } from '../settings/install-button.tsx';
import { ONLY_ADMINISTRATORS } from './cluster-labels.ts';
import styles from './detail.module.css';

/** Reports a disconnected agent and the age of the data below. Renders nothing while connected. */
export function AgentAway({ cluster }: { cluster: ClusterInfo }) {
  const workspace = useWorkspace();
  if (cluster.connected) return null;
  const { status, last_seen_at: seenAt } = cluster;
  if (status === 'pending' || seenAt === null) {
    return (
      <section className={styles['away']} role="status">
        <Unplug size={16} />
        <div>
          <h2>No agent has connected yet</h2>
          <p>
            Run the install commands on a machine with kubectl access to the cluster.
            {!administers(workspace) && ` ${ONLY_ADMINISTRATORS}`}
          </p>
          {administers(workspace) && <InstallButton cluster={cluster} variant="primary" />}
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
