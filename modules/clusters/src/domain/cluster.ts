import type { Limits } from '@svc/quotas';
import type { Limitation } from '@svc/protocol';
import type { Page, PageRequest } from './paging.ts';

/** `svc` = said hello and knows the additive messages; `contract` = only the contract's six types. */
export type AgentProtocol = 'svc' | 'contract';

export interface HeartbeatReading {
  status: string;
  /** Fractions 0..1 of what the nodes can give. */
  cpuUsage: number;
  memoryUsage: number;
  activePods: number;
}

/** What the agent counted in its last `cluster_status`. */
export interface ReportedStatus {
  health: string;
  nodes: number;
  pods: number;
  services: number;
  /** What the agent leaves out, and why. */
  limitations: readonly Limitation[];
  at: string;
}

/** A registered cluster with the live state that its agent left. */
export interface Cluster {
  id: string;
  workspaceUuid: string;
  name: string;
  createdAt: string;
  createdBy: string;
  /** Counts the connections; a disconnect of an older one changes nothing. */
  connectionEpoch: number;
  connected: boolean;
  leaseUntil: string | null;
  instanceId: string | null;
  /** When an agent came back that another one had replaced. */
  twoAgentsAt: string | null;
  protocol: AgentProtocol | null;
  connectedAt: string | null;
  disconnectedAt: string | null;
  lastSeenAt: string | null;
  agentVersion: string | null;
  kubernetesVersion: string | null;
  capabilities: string[];
  heartbeat: HeartbeatReading | null;
  reportedStatus: ReportedStatus | null;
  /** By how much the agent's clock is ahead of ours, at its last heartbeat. */
  clockSkewSeconds: number | null;
}

export type ClusterStatus = 'pending' | 'online' | 'offline';

/**
 * A short reconnect changes nothing: a cluster is `offline` only after `offlineAfterMs` without a heartbeat. `pending`
 * = no agent has ever come.
 */
export function clusterStatusAt(cluster: Cluster, now: Date, offlineAfterMs: number): ClusterStatus {
  if (cluster.lastSeenAt === null) return 'pending';
  return now.getTime() - Date.parse(cluster.lastSeenAt) <= offlineAfterMs ? 'online' : 'offline';
}

/** True while some replica holds a connection. A replica that died stops renewing its lease. */
export function isConnectedAt(cluster: Cluster, now: Date): boolean {
  return cluster.connected && cluster.leaseUntil !== null && cluster.leaseUntil > now.toISOString();
}

export interface NewCluster {
  id: string;
  workspaceUuid: string;
  name: string;
  createdAt: string;
  createdBy: string;
}

/** Clusters of one workspace. */
export interface ClusterCounts {
  total: number;
  /** With a live agent. */
  connected: number;
  /** No agent has ever connected. */
  pending: number;
}

/** Clusters and their tokens. A foreign cluster is never found: every look-up names the workspace. */
export interface ClusterStore {
  /** Throws `CLUSTER_NAME_TAKEN` or `TOO_MANY_CLUSTERS`. */
  insert(cluster: NewCluster, tokenHash: string, limits: Limits): Promise<void>;
  list(workspaceUuid: string, page: PageRequest): Promise<Page<Cluster>>;
  /** By id first, then by name. */
  find(workspaceUuid: string, nameOrId: string): Promise<Cluster | undefined>;
  /** Of any workspace: only for whoever asks afterwards whether the caller may know it. */
  findById(id: string): Promise<Cluster | undefined>;
  findByToken(tokenHash: string, now: string): Promise<Cluster | undefined>;
  /** The older tokens stay valid until `overlapUntil`; null ends them at once. */
  rotateToken(clusterId: string, tokenHash: string, now: string, overlapUntil: string | null): Promise<void>;
  /** Ends tokens whose time is over and answers their hashes. */
  expireTokens(now: string): Promise<string[]>;
  /** With all that belongs to it. */
  remove(clusterId: string): Promise<void>;
  removeWorkspace(workspaceUuid: string): Promise<string[]>;
  counts(workspaceUuid: string, now: string): Promise<ClusterCounts>;
}

export interface Introduction {
  instanceId: string | null;
  /** Whose numbers its events have; null for an agent of the contract. */
  outboxId: string | null;
  protocol: AgentProtocol;
  agentVersion: string | null;
  kubernetesVersion: string | null;
  capabilities: readonly string[];
}

/** Who holds the agent's connection. All but `open` do nothing once a newer epoch is there. */
export interface ConnectionStore {
  open(clusterId: string, replicaId: string, at: string, leaseUntil: string): Promise<number>;
  /** Answers what is stored of this outbox; `resumed` is false for one that is new here. */
  introduce(
    clusterId: string,
    epoch: number,
    introduction: Introduction,
  ): Promise<{ resumed: boolean; lastReceivedSequence: number }>;
  close(clusterId: string, epoch: number, at: string): Promise<void>;
  /** Answers the epoch of each connection that this replica still holds. */
  renewLeases(replicaId: string, leaseUntil: string): Promise<ReadonlyMap<string, number>>;
  /** A replica that starts holds no connection, whatever its last run left. */
  forget(replicaId: string, at: string): Promise<void>;
}
