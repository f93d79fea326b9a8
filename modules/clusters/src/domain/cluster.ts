import type { Limits } from '@svc/quotas';
import type { Limitation } from '@svc/protocol';
import type { Page } from '@svc/runtime';
import type { PageRequest } from './paging.ts';

/** `svc` = sent a hello and knows the additive messages; `contract` = knows only the contract's six types. */
export type AgentProtocol = 'svc' | 'contract';

export interface HeartbeatReading {
  status: string;
  /** Fractions 0..1 of the nodes' allocatable resources. */
  cpuUsage: number;
  memoryUsage: number;
  activePods: number;
}

/** Counts from the agent's last `cluster_status`. */
export interface ReportedStatus {
  health: string;
  nodes: number;
  pods: number;
  services: number;
  /** What the agent cannot report, and why. */
  limitations: readonly Limitation[];
  at: string;
}

/** A registered cluster with its last reported live state. */
export interface Cluster {
  id: string;
  workspaceUuid: string;
  name: string;
  createdAt: string;
  createdBy: string;
  /** Incremented on each connection; a disconnect of an older connection changes nothing. */
  connectionEpoch: number;
  connected: boolean;
  leaseUntil: string | null;
  instanceId: string | null;
  /** When an agent last reconnected after another one had replaced it. */
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
  /** Seconds by which the agent's clock was ahead of ours at its last heartbeat. */
  clockSkewSeconds: number | null;
}

export type ClusterStatus = 'pending' | 'online' | 'offline';

/**
 * A cluster is `offline` only after `offlineAfterMs` without a heartbeat, so a short reconnect does not show. `pending`
 * = no agent has ever connected.
 */
export function clusterStatusAt(cluster: Cluster, now: Date, offlineAfterMs: number): ClusterStatus {
  if (cluster.lastSeenAt === null) return 'pending';
  return now.getTime() - Date.parse(cluster.lastSeenAt) <= offlineAfterMs ? 'online' : 'offline';
}

/** True while some replica holds a connection. The lease of a dead replica expires. */
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

/** Cluster counts of one workspace. */
export interface ClusterCounts {
  total: number;
  /** With a connected agent. */
  connected: number;
  /** No agent has ever connected. */
  pending: number;
}

/** Clusters and their tokens. Every lookup names the workspace, so it never returns another workspace's cluster. */
export interface ClusterStore {
  /** Throws `CLUSTER_NAME_TAKEN` or `TOO_MANY_CLUSTERS`. */
  insert(cluster: NewCluster, tokenHash: string, limits: Limits): Promise<void>;
  list(workspaceUuid: string, page: PageRequest): Promise<Page<Cluster>>;
  /** Matches by id first, then by name. */
  find(workspaceUuid: string, nameOrId: string): Promise<Cluster | undefined>;
  /** Searches all workspaces: the caller must check access to the result. */
  findById(id: string): Promise<Cluster | undefined>;
  findByToken(tokenHash: string, now: string): Promise<Cluster | undefined>;
  /** Old tokens stay valid until `overlapUntil`; null expires them immediately. */
  rotateToken(clusterId: string, tokenHash: string, now: string, overlapUntil: string | null): Promise<void>;
  /** Expires tokens that are past their end and returns their hashes. */
  expireTokens(now: string): Promise<string[]>;
  /** Those of the given hashes whose token exists and has not expired. */
  validTokens(hashes: readonly string[], now: string): Promise<ReadonlySet<string>>;
  /** Deletes the cluster and everything that belongs to it. */
  remove(clusterId: string): Promise<void>;
  removeWorkspace(workspaceUuid: string): Promise<string[]>;
  counts(workspaceUuid: string, now: string): Promise<ClusterCounts>;
}

export interface Introduction {
  instanceId: string | null;
  /** Numbers the agent's events; null for an agent that knows only the contract. */
  outboxId: string | null;
  protocol: AgentProtocol;
  agentVersion: string | null;
  kubernetesVersion: string | null;
  capabilities: readonly string[];
}

/**
 * Tracks which replica holds the agent's connection. All methods except `open` are no-ops once a newer epoch exists.
 */
export interface ConnectionStore {
  open(clusterId: string, replicaId: string, at: string, leaseUntil: string): Promise<number>;
  /** Returns the last stored sequence of this outbox; `resumed` is false for a new outbox. */
  introduce(
    clusterId: string,
    epoch: number,
    introduction: Introduction,
  ): Promise<{ resumed: boolean; lastReceivedSequence: number }>;
  close(clusterId: string, epoch: number, at: string): Promise<void>;
  /** Returns the epoch of each connection that this replica still holds. */
  renewLeases(replicaId: string, leaseUntil: string): Promise<ReadonlyMap<string, number>>;
  /** The replica with a valid lease; null if no replica holds a connection. */
  holder(clusterId: string, now: string): Promise<string | null>;
  /** Clears the connections of the replica's previous run; a starting replica holds none. */
  forget(replicaId: string, at: string): Promise<void>;
}
