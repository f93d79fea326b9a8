import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { SANDBOXES_SERVICE, type TunnelRequest } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { ClusterStore } from '../../domain/cluster.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';
import type { AgentTunnels } from './agent-tunnels.ts';

/** A cluster as sandboxes know it. */
export interface SandboxCluster {
  id: string;
  name: string;
  workspaceUuid: string;
}

/** Connections to the API server of a cluster, as its agent offers them for sandboxes. */
export interface SandboxConnections {
  /** Keeps connections open between requests. */
  agent: Agent;
  /** Opens one for an upgrade. Throws a `MuxError` if the tunnel is closed. */
  connect(): Duplex;
}

export interface SandboxTunnelsOptions {
  clusters: Pick<ClusterStore, 'find' | 'findById'>;
  store: Pick<TunnelStore, 'holder'>;
  tunnels: AgentTunnels;
  clock: Pick<Clock, 'now'>;
}

/** Sandboxes belong to no user of the cluster: the agent allows this service only what sandboxes need. */
const REQUEST: TunnelRequest = { service: SANDBOXES_SERVICE, user: 'svc:sandboxes', role: 'sandboxes' };

/** The clusters and tunnels that sandboxes may use. Whoever asks has authorized the workspace. */
export class SandboxTunnels {
  readonly #options: SandboxTunnelsOptions;

  constructor(options: SandboxTunnelsOptions) {
    this.#options = options;
  }

  /** Matches by id first, then by name; null if the workspace has no such cluster. */
  async find(workspaceUuid: string, nameOrId: string): Promise<SandboxCluster | null> {
    return toSandboxCluster(await this.#options.clusters.find(workspaceUuid, nameOrId));
  }

  /** Null if the cluster was removed. */
  async findById(id: string): Promise<SandboxCluster | null> {
    return toSandboxCluster(await this.#options.clusters.findById(id));
  }

  /** The replica whose lease on the cluster's tunnel is valid; null if there is none. */
  holder(id: string): Promise<string | null> {
    return this.#options.store.holder(id, this.#options.clock.now().toISOString());
  }

  /** Ids of the clusters whose tunnels this replica has. */
  held(): string[] {
    return this.#options.tunnels.clusterIds();
  }

  /** Grows with each tunnel of the cluster; null if this replica has none. */
  epoch(id: string): number | null {
    return this.#options.tunnels.find(id)?.epoch ?? null;
  }

  /** Null if this replica has no tunnel of the cluster. */
  connections(id: string): SandboxConnections | null {
    const tunnel = this.#options.tunnels.find(id);
    if (tunnel === undefined) return null;
    return { agent: tunnel.connectionsFor(REQUEST), connect: () => tunnel.open(REQUEST) };
  }

  /** Calls back with the id of a cluster whose tunnel opens or ends at this replica. Returns a function that stops it. */
  subscribe(listener: (clusterId: string) => void): () => void {
    return this.#options.tunnels.subscribe(listener);
  }
}

function toSandboxCluster(cluster: SandboxCluster | undefined): SandboxCluster | null {
  if (cluster === undefined) return null;
  const { id, name, workspaceUuid } = cluster;
  return { id, name, workspaceUuid };
}
