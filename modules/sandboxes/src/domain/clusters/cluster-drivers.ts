import type { AppError } from '@svc/errors';
import { sandboxErrors } from '../../errors.ts';
import type { SandboxDriver } from '../driver.ts';
import type { Sandbox } from '../sandbox.ts';
import { OfflineDriver } from './offline-driver.ts';
import {
  clusterDriverName,
  type ConnectedClusters,
  type OpenedCluster,
  type SandboxCluster,
} from './sandbox-cluster.ts';

/** A driver for as long as the tunnel that it uses. */
export interface ConnectedDriver extends OpenedCluster {
  readonly epoch: number;
}

/** What the choice of a driver depends on. */
export type DrivenSandbox = Pick<Sandbox, 'id' | 'workspaceUuid' | 'cluster'>;

/**
 * Finds the driver of each sandbox: that of its cluster, or the configured one. A cluster whose tunnel has ended has no
 * driver from that moment on, so that nothing waits for it.
 */
export class ClusterDrivers {
  readonly #base: SandboxDriver;
  readonly #clusters: Pick<ConnectedClusters, 'epoch'> | null;
  readonly #connected = new Map<string, ConnectedDriver>();
  /** Why a cluster whose tunnel is here runs no sandboxes. */
  readonly #refusals = new Map<string, string>();
  /** Sandboxes of clusters that this node has had to do with, for callers that know only an id. */
  readonly #known = new Map<string, DrivenSandbox>();

  /** `clusters` is null if clusters are off. */
  constructor(base: SandboxDriver, clusters: Pick<ConnectedClusters, 'epoch'> | null) {
    this.#base = base;
    this.#clusters = clusters;
  }

  of(sandbox: DrivenSandbox): SandboxDriver {
    const { cluster, id, workspaceUuid } = sandbox;
    if (cluster === null) return this.#base;
    if (!this.#known.has(id)) this.#known.set(id, { id, workspaceUuid, cluster });
    return this.#find(cluster.id)?.driver ?? this.#offline(cluster);
  }

  /** For a sandbox that runs on this node. */
  ofRunning(id: string): SandboxDriver {
    const known = this.#known.get(id);
    return known === undefined ? this.#base : this.of(known);
  }

  /** Whether the cluster of the sandbox cannot be reached from this node. */
  isAway({ cluster }: Pick<Sandbox, 'cluster'>): boolean {
    return cluster !== null && this.#find(cluster.id) === null;
  }

  /** Throws CLUSTER_OFFLINE. */
  assertReachable({ cluster }: Pick<Sandbox, 'cluster'>): void {
    if (cluster !== null && this.isAway({ cluster })) throw offlineError(cluster.name, this.whyAway(cluster.id));
  }

  /** Why a cluster without a driver cannot be reached from this node. */
  whyAway(clusterId: string): string {
    const refusal = this.#clusters?.epoch(clusterId) === null ? undefined : this.#refusals.get(clusterId);
    return refusal ?? NO_TUNNEL;
  }

  /** The sandbox with this id, if a cluster runs it. */
  known(id: string): DrivenSandbox | null {
    return this.#known.get(id) ?? null;
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** The driver of a cluster, whether or not its tunnel has ended meanwhile. */
  connected(clusterId: string): ConnectedDriver | null {
    return this.#connected.get(clusterId) ?? null;
  }

  connect(clusterId: string, connected: ConnectedDriver): void {
    this.#refusals.delete(clusterId);
    this.#connected.set(clusterId, connected);
  }

  /** Records why a cluster whose tunnel is here runs no sandboxes. */
  refuse(clusterId: string, reason: string): void {
    this.#refusals.set(clusterId, reason);
  }

  /** Ends the use of a cluster's driver. Its sandboxes run on. */
  async disconnect(clusterId: string): Promise<void> {
    const connected = this.#connected.get(clusterId);
    this.#connected.delete(clusterId);
    await connected?.driver.close();
  }

  get clusterIds(): readonly string[] {
    return [...this.#connected.keys()];
  }

  #find(clusterId: string): ConnectedDriver | null {
    const connected = this.#connected.get(clusterId);
    if (connected === undefined || this.#clusters?.epoch(clusterId) !== connected.epoch) return null;
    return connected;
  }

  #offline({ id, name }: SandboxCluster): SandboxDriver {
    return new OfflineDriver(clusterDriverName(id), () => offlineError(name, this.whyAway(id)));
  }
}

const NO_TUNNEL = 'its agent has no connection to the platform';

/** A cluster that cannot be reached now. */
export function offlineError(cluster: string, reason = NO_TUNNEL): AppError {
  const details = { cluster, reason };
  return sandboxErrors.CLUSTER_OFFLINE({ details, headers: { 'retry-after': '5' } });
}
