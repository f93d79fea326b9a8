import type { Limitation } from '@svc/protocol';
import type { AgentProtocol, Cluster } from '../domain/cluster.ts';
import type { ClusterRow } from './tables.ts';

export function toCluster(row: ClusterRow): Cluster {
  return {
    id: row.id,
    workspaceUuid: row.workspace_uuid,
    name: row.name,
    createdAt: row.created_at,
    createdBy: row.created_by,
    connectionEpoch: row.connection_epoch,
    connected: row.connected === 1,
    leaseUntil: row.lease_until,
    instanceId: row.instance_id,
    twoAgentsAt: row.two_agents_at,
    protocol: row.protocol as AgentProtocol | null, // only `introduce` writes the column
    connectedAt: row.connected_at,
    disconnectedAt: row.disconnected_at,
    lastSeenAt: row.last_seen_at,
    agentVersion: row.agent_version,
    kubernetesVersion: row.kubernetes_version,
    capabilities: row.capabilities === null ? [] : (JSON.parse(row.capabilities) as string[]), // written by `introduce`
    heartbeat:
      row.heartbeat_status === null
        ? null
        : {
            status: row.heartbeat_status,
            cpuUsage: row.cpu_usage ?? 0,
            memoryUsage: row.memory_usage ?? 0,
            activePods: row.active_pods ?? 0,
          },
    reportedStatus:
      row.status_at === null
        ? null
        : {
            health: row.health ?? '',
            nodes: row.nodes ?? 0,
            pods: row.pods ?? 0,
            services: row.services ?? 0,
            limitations: row.limitations === null ? [] : (JSON.parse(row.limitations) as Limitation[]), // from a report
            at: row.status_at,
          },
    clockSkewSeconds: row.clock_skew_seconds,
  };
}
