import type { Limits, QuotaLimits } from '@svc/quotas';
import { clusterErrors } from '../errors.ts';
import { clusterQuotas } from '../quotas.ts';
import type { Cluster, ClusterStore } from './cluster.ts';
import { type Clock } from '@svc/runtime';
import { timestampAfter } from './timestamps.ts';
import { hashAgentToken, isClusterId, newAgentToken, newId, type RandomBytes } from './identifiers.ts';

export interface ClusterRegistryOptions {
  clusters: ClusterStore;
  clock: Clock;
  randomBytes: RandomBytes;
  quotaLimits: QuotaLimits;
  /** Limit if no quota is set. */
  maxClustersPerWorkspace: number;
  /** Closes the agent's connections: all of them, or all except those opened with the kept token. */
  disconnect: (clusterId: string, keptTokenHash: string | null) => void;
}

/** The clusters of a workspace and their agent tokens. */
export class ClusterRegistry {
  readonly #options: ClusterRegistryOptions;

  constructor(options: ClusterRegistryOptions) {
    this.#options = options;
  }

  async create(workspaceUuid: string, name: string, createdBy: string): Promise<{ cluster: Cluster; token: string }> {
    const { clusters, clock, randomBytes } = this.#options;
    if (isClusterId(name)) {
      throw clusterErrors.INVALID_REQUEST({
        details: { field: 'name', reason: 'name must not have the form of a cluster ID' },
      });
    }
    const id = newId('cls', randomBytes);
    const token = newAgentToken(randomBytes);
    const createdAt = clock.now().toISOString();
    const cluster = { id, workspaceUuid, name, createdAt, createdBy };
    await clusters.insert(cluster, hashAgentToken(token), await this.#readLimits(workspaceUuid));
    return { cluster: await this.find(workspaceUuid, id), token };
  }

  async #readLimits(workspaceUuid: string): Promise<Limits> {
    const { quotaLimits, maxClustersPerWorkspace } = this.#options;
    const limits = await quotaLimits.readLimits(workspaceUuid);
    return { ...limits, workspace: { [clusterQuotas.clusters.name]: maxClustersPerWorkspace, ...limits.workspace } };
  }

  /** Throws `CLUSTER_NOT_FOUND`, also for a cluster of another workspace. */
  async find(workspaceUuid: string, nameOrId: string): Promise<Cluster> {
    const cluster = await this.#options.clusters.find(workspaceUuid, nameOrId);
    if (cluster === undefined)
      throw clusterErrors.CLUSTER_NOT_FOUND({ details: { field: 'cluster', cluster: nameOrId } });
    return cluster;
  }

  /** The old token expires after the overlap; with no overlap, its connection closes immediately. */
  async rotateToken(cluster: Cluster, overlapMs: number): Promise<string> {
    const { clusters, clock, randomBytes, disconnect } = this.#options;
    const token = newAgentToken(randomBytes);
    const hash = hashAgentToken(token);
    const now = clock.now();
    const overlapUntil = overlapMs === 0 ? null : timestampAfter(now, overlapMs);
    await clusters.rotateToken(cluster.id, hash, now.toISOString(), overlapUntil);
    if (overlapUntil === null) disconnect(cluster.id, hash);
    return token;
  }

  async remove(cluster: Cluster): Promise<void> {
    await this.#options.clusters.remove(cluster.id);
    this.#options.disconnect(cluster.id, null);
  }

  /** Called when the accounts module deletes a workspace. */
  async removeWorkspace(workspaceUuid: string): Promise<void> {
    for (const id of await this.#options.clusters.removeWorkspace(workspaceUuid)) this.#options.disconnect(id, null);
  }
}
