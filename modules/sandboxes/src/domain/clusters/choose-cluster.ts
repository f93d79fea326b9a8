import { createMaker, type Access, type Principal } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import { missingCapabilities, type Capability, type Isolation } from '../driver.ts';
import type { Sandbox } from '../sandbox.ts';
import { offlineError } from './cluster-drivers.ts';
import { mayRunInCluster } from './cluster-rights.ts';
import { OfflineDriver } from './offline-driver.ts';
import {
  clusterDriverName,
  type ClusterReport,
  type ClusterReports,
  type ConnectedClusters,
  type SandboxCluster,
} from './sandbox-cluster.ts';

/** The cluster of a new sandbox, and the node with its tunnel. */
export interface ChosenCluster extends SandboxCluster {
  readonly node: string;
  /** Why it does not provide this isolation; null if it does. */
  whyUnsupported(isolation: Isolation): string | null;
}

/** A cluster of a workspace in which sandboxes can run. */
export interface AvailableCluster {
  readonly id: string;
  readonly name: string;
  readonly isConnected: boolean;
  /** In alphabetical order. */
  readonly missingCapabilities: readonly Capability[];
}

export interface ClusterChoiceDeps {
  readonly access: Pick<Access, 'allowedActions'>;
  /** Null if clusters are off. */
  readonly clusters: ConnectedClusters | null;
  readonly reports: ClusterReports;
  /** Whether there is storage for snapshots. */
  readonly keepsSnapshots: boolean;
}

/** Finds and authorizes the clusters of create requests. */
export class ClusterChoice {
  readonly #deps: ClusterChoiceDeps;

  constructor(deps: ClusterChoiceDeps) {
    this.#deps = deps;
  }

  /**
   * Throws CLUSTERS_OF_GUESTS, CLUSTER_FORBIDDEN, UNKNOWN_CLUSTER, also for clusters of other workspaces, CLUSTER_OFFLINE
   * and CLUSTER_WITHOUT_SANDBOXES.
   */
  async choose(workspaceUuid: string, principal: Principal, nameOrId: string): Promise<ChosenCluster> {
    const { access, clusters, reports } = this.#deps;
    if (principal.kind === 'guest') throw sandboxErrors.CLUSTERS_OF_GUESTS();
    const maker = createMaker(principal);
    const wanted = { id: '', name: nameOrId, maker };
    if (!(await mayRunInCluster(access, { workspaceUuid, cluster: wanted }))) {
      throw sandboxErrors.CLUSTER_FORBIDDEN({ details: { field: 'cluster', cluster: nameOrId } });
    }
    const found = (await clusters?.find(workspaceUuid, nameOrId)) ?? null;
    if (clusters === null || found === null) {
      throw sandboxErrors.UNKNOWN_CLUSTER({ details: { field: 'cluster', cluster: nameOrId } });
    }
    const { id, name } = found;
    const node = await clusters.holder(id);
    if (node === null) throw offlineError(name);
    const report = await reports.find(id);
    if (report === null || report.reason !== null) {
      const reason = report?.reason ?? 'its agent was not asked yet; try again';
      throw sandboxErrors.CLUSTER_WITHOUT_SANDBOXES({ details: { field: 'cluster', cluster: name, reason } });
    }
    const whyNoGvisor = report.hasGvisor ? null : `the cluster ${name} has no RuntimeClass for gVisor`;
    return { id, name, maker, node, whyUnsupported: (isolation) => (isolation === 'gvisor' ? whyNoGvisor : null) };
  }

  /** Whether the creator of a sandbox may still run it in its cluster, if it has one. */
  isAllowed(sandbox: Pick<Sandbox, 'workspaceUuid' | 'cluster'>): Promise<boolean> {
    return mayRunInCluster(this.#deps.access, sandbox);
  }

  /** Throws CLUSTER_FORBIDDEN unless it is allowed. */
  async assertAllowed(sandbox: Pick<Sandbox, 'workspaceUuid' | 'cluster'>): Promise<void> {
    if (await this.isAllowed(sandbox)) return;
    throw sandboxErrors.CLUSTER_FORBIDDEN({ details: { cluster: sandbox.cluster?.name ?? '' } });
  }

  /** Whether the cluster of the sandbox was removed. */
  async isGone({ cluster }: Pick<Sandbox, 'cluster'>): Promise<boolean> {
    const { clusters } = this.#deps;
    return clusters !== null && cluster !== null && (await clusters.findById(cluster.id)) === null;
  }

  /** Asks the node of a new sandbox to start it. If the request is lost, the sweep there finds the record. */
  requestStart({ id, node }: Pick<Sandbox, 'id' | 'node'>): Promise<void> {
    return this.#deps.reports.requestStart(id, node);
  }

  /** The clusters of a workspace that run sandboxes, by name. */
  async list(workspaceUuid: string): Promise<readonly AvailableCluster[]> {
    const { clusters, reports } = this.#deps;
    if (clusters === null) return [];
    const available: AvailableCluster[] = [];
    for (const report of await reports.ofWorkspace(workspaceUuid)) {
      const found = await clusters.findById(report.clusterId);
      if (found === null || found.workspaceUuid !== workspaceUuid) continue;
      const { id, name } = found;
      const isConnected = (await clusters.holder(id)) !== null;
      available.push({ id, name, isConnected, missingCapabilities: this.#missingIn(found, report) });
    }
    return available.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** As reported by the node with the tunnel; what all pods lack if that has an earlier version. */
  #missingIn({ id, name }: Pick<SandboxCluster, 'id' | 'name'>, report: ClusterReport): readonly Capability[] {
    const missing =
      report.missingCapabilities ??
      missingCapabilities(new OfflineDriver(clusterDriverName(id), () => offlineError(name)));
    return this.#deps.keepsSnapshots ? missing : [...new Set([...missing, 'snapshots' as const])].toSorted();
  }
}
