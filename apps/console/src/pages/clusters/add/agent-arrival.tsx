import type { ClusterInfo } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { clusterQuery, useClusters } from '../../../api/clusters.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import styles from './add.module.css';

/** Waits for the agent and reports when it is connected. */
export function AgentArrival({ clusterId }: { clusterId: string }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const { data } = useQuery(clusterQuery(api, workspace, clusterId));
  return (
    <p className={styles['arrival']} role="status">
      {data?.connected === true ? (
        <>
          <Status tone="ok" live>
            Agent connected
          </Status>
          <span className="muted">{formatVersions(data)}</span>
        </>
      ) : (
        <Status tone="warn" live>
          Waiting for the agent to connect…
        </Status>
      )}
    </p>
  );
}

function formatVersions({ agent_version: agent, kubernetes_version: kubernetes }: ClusterInfo): string {
  return [agent === null ? '' : `Agent ${agent}`, kubernetes === null ? '' : `Kubernetes ${kubernetes}`]
    .filter((each) => each !== '')
    .join(', ');
}
