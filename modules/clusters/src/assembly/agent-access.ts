import { CLOSE_CODES } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { AgentTunnels } from '../adapters/tunnel/agent-tunnels.ts';
import type { ClusterStore } from '../domain/cluster.ts';
import type { AgentConnections } from '../routes/channel/agent-connections.ts';

export interface AgentAccessOptions {
  clusters: Pick<ClusterStore, 'findById' | 'validTokens'>;
  connections: Pick<AgentConnections, 'newest' | 'closeCluster' | 'closeTokens'>;
  tunnels: Pick<AgentTunnels, 'all' | 'closeCluster' | 'closeTokens'>;
  clock: Clock;
}

interface HeldToken {
  readonly clusterId: string;
  readonly tokenHash: string;
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
    if (!(await this.#closeIfRemoved(clusterId))) await this.#closeInvalid(held);
  }

  async recheckAll(): Promise<void> {
    const held = [...new Map(this.#held().map((each) => [each.tokenHash, each])).values()];
    for (let start = 0; start < held.length; start += HASHES_PER_QUERY) {
      await this.#closeInvalid(held.slice(start, start + HASHES_PER_QUERY));
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

  #held(): HeldToken[] {
    const { connections, tunnels } = this.#options;
    return [...connections.newest().map(({ connection }) => connection), ...tunnels.all()];
  }

  async #closeIfRemoved(clusterId: string): Promise<boolean> {
    const isRemoved = (await this.#options.clusters.findById(clusterId)) === undefined;
    if (isRemoved) this.closeCluster(clusterId);
    return isRemoved;
  }

  async #closeInvalid(held: readonly HeldToken[]): Promise<void> {
    const { clusters, clock } = this.#options;
    const hashes = held.map(({ tokenHash }) => tokenHash);
    const valid = await clusters.validTokens(hashes, clock.now().toISOString());
    const invalid = held.filter(({ tokenHash }) => !valid.has(tokenHash));
    const revoked = new Set<string>();
    for (const { clusterId, tokenHash } of invalid) {
      // The tokens of a removed cluster go with it, and its agent is told which of the two it was.
      if (!(await this.#closeIfRemoved(clusterId))) revoked.add(tokenHash);
    }
    if (revoked.size > 0) this.closeTokens(revoked);
  }
}
