import { CLOSE_CODES } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { AgentTunnels } from '../adapters/tunnel/agent-tunnels.ts';
import type { ClusterStore } from '../domain/cluster.ts';
import type { AgentConnections } from '../routes/channel/agent-connections.ts';

export interface AgentAccessOptions {
  clusters: ClusterStore;
  connections: AgentConnections;
  tunnels: AgentTunnels;
  clock: Clock;
}

const HASHES_PER_QUERY = 500;

/**
 * Ends the connections of agents whose token is no longer valid or whose cluster is gone, whichever replica changed
 * that.
 */
export class AgentAccess {
  readonly #options: AgentAccessOptions;

  constructor(options: AgentAccessOptions) {
    this.#options = options;
  }

  async recheck(clusterId: string): Promise<void> {
    const held = this.#held().filter((each) => each.clusterId === clusterId);
    if (held.length === 0) return;
    if ((await this.#options.clusters.findById(clusterId)) === undefined) this.closeCluster(clusterId);
    else await this.#closeInvalid(held.map(({ tokenHash }) => tokenHash));
  }

  async recheckAll(): Promise<void> {
    const hashes = [...new Set(this.#held().map(({ tokenHash }) => tokenHash))];
    for (let start = 0; start < hashes.length; start += HASHES_PER_QUERY) {
      await this.#closeInvalid(hashes.slice(start, start + HASHES_PER_QUERY));
    }
  }

  closeCluster(clusterId: string): void {
    const { connections, tunnels } = this.#options;
    connections.closeCluster(clusterId, CLOSE_CODES.forbidden, 'the cluster was removed');
    tunnels.closeCluster(clusterId);
  }

  /** For tokens deleted here: `recheck` does not find them sooner. */
  closeTokens(hashes: ReadonlySet<string>): void {
    this.#options.connections.closeTokens(hashes);
    this.#options.tunnels.closeTokens(hashes);
  }

  #held(): { clusterId: string; tokenHash: string }[] {
    const { connections, tunnels } = this.#options;
    return [...connections.newest().map(({ connection }) => connection), ...tunnels.all()];
  }

  async #closeInvalid(hashes: readonly string[]): Promise<void> {
    const { clusters, clock } = this.#options;
    const valid = await clusters.validTokens(hashes, clock.now().toISOString());
    const invalid = hashes.filter((hash) => !valid.has(hash));
    if (invalid.length > 0) this.closeTokens(new Set(invalid));
  }
}
