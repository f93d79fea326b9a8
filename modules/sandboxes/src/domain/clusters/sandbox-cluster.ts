import type { Maker } from '@svc/access';
import type { Capability, SandboxDriver } from '../driver.ts';

/** The connected cluster that runs a sandbox as a pod. The right of its creator holds for as long as it runs. */
export interface SandboxCluster {
  readonly id: string;
  readonly name: string;
  readonly maker: Maker;
}

/** What the creator of a sandbox must be allowed to do, in addition to creating it. */
export const RUN_IN_CLUSTER = 'cluster:run-sandboxes';

const DRIVER_PREFIX = 'cluster:';

/** Name of the driver of a cluster's sandboxes. */
export function clusterDriverName(clusterId: string): string {
  return `${DRIVER_PREFIX}${clusterId}`;
}

/** ID of the cluster that a driver with this name runs sandboxes in; null if it is none. */
export function clusterOfDriver(name: string): string | null {
  return name.startsWith(DRIVER_PREFIX) ? name.slice(DRIVER_PREFIX.length) : null;
}

/** Matches the names of drivers of clusters, in the language of LIKE. */
export const CLUSTER_DRIVERS = `${DRIVER_PREFIX}%`;

/** A cluster of a workspace. */
export interface ClusterRecord {
  readonly id: string;
  readonly name: string;
  readonly workspaceUuid: string;
}

/**
 * The clusters whose agents dial out to the platform. Only the replica with the tunnel of a cluster drives sandboxes
 * there, so that a sandbox's node is the replica whose lease on the tunnel is valid.
 */
export interface ConnectedClusters {
  /** Matches by id first, then by name; null if the workspace has no such cluster. */
  find(workspaceUuid: string, nameOrId: string): Promise<ClusterRecord | null>;
  /** Null if the cluster was removed. */
  findById(id: string): Promise<ClusterRecord | null>;
  /** The node whose lease on the cluster's tunnel is valid; null if there is none. */
  holder(id: string): Promise<string | null>;
  /** Ids of the clusters whose tunnels this node has. */
  held(): readonly string[];
  /** Grows with each tunnel of the cluster; null if this node has none. */
  epoch(id: string): number | null;
  /** Calls back with the id of a cluster whose tunnel opens or ends here. Returns a function that stops it. */
  subscribe(listener: (clusterId: string) => void): () => void;
}

/** Connects to a cluster through its tunnel. */
export interface ClusterConnector {
  /**
   * Opens the driver of a cluster that this node has the tunnel of. `fingerprint` changes with what the agent allows.
   * Throws a readable error if the agent or the cluster refuses sandboxes. With `isVerified`, the network is not tried
   * again.
   */
  open(cluster: ClusterRecord, isVerified: boolean, signal: AbortSignal): Promise<OpenedCluster>;
  /** The current fingerprint; null if the agent refuses sandboxes. Throws if the agent does not answer. */
  fingerprint(cluster: ClusterRecord, signal: AbortSignal): Promise<string | null>;
}

export interface OpenedCluster {
  readonly driver: SandboxDriver;
  readonly fingerprint: string;
  readonly hasGvisor: boolean;
}

/** What the node with the tunnel reported last about sandboxes in a cluster. */
export interface ClusterReport {
  readonly clusterId: string;
  readonly workspaceUuid: string;
  /** Why the cluster runs no sandboxes; null if it does. */
  readonly reason: string | null;
  /** Of what the agent allows; null if it allows no sandboxes. */
  readonly fingerprint: string | null;
  readonly hasGvisor: boolean;
  /** What its sandboxes lack; null if an earlier version reported, or if the cluster runs none. */
  readonly missingCapabilities: readonly Capability[] | null;
  readonly reportedAt: string;
}

/** Stores reports, and which node has the sandboxes of a cluster. */
export interface ClusterReports {
  save(report: ClusterReport): Promise<void>;
  find(clusterId: string): Promise<ClusterReport | null>;
  /** Reports of clusters that run sandboxes. */
  ofWorkspace(workspaceUuid: string): Promise<readonly ClusterReport[]>;
  remove(clusterId: string): Promise<void>;
  /** Gives all sandboxes of a cluster, deleted ones included, to a node. */
  takeOver(clusterId: string, node: string): Promise<void>;
  /** Asks the node of a new sandbox to start it. */
  requestStart(sandboxId: string, node: string): Promise<void>;
}
