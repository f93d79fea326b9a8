import { TUNNEL_CLOSE_CODES } from '@svc/protocol';
import type { AgentTunnel } from './agent-tunnel.ts';

/** The tunnels of this replica: the newest one of each cluster. */
export class AgentTunnels {
  readonly #tunnels = new Map<string, AgentTunnel>();
  /** Includes tunnels that are draining while their streams finish. */
  readonly #alive = new Set<AgentTunnel>();
  readonly #listeners = new Set<(clusterId: string) => void>();
  #draining = false;

  get draining(): boolean {
    return this.#draining;
  }

  get count(): number {
    return this.#tunnels.size;
  }

  get streamCount(): number {
    return [...this.#alive].reduce((sum, { session }) => sum + session.streamCount, 0);
  }

  /** Every open tunnel, including those that drain. */
  all(): AgentTunnel[] {
    return [...this.#alive];
  }

  /** Clusters with a tunnel that takes new streams. */
  clusterIds(): string[] {
    return [...this.#tunnels.keys()].filter((id) => this.find(id) !== undefined);
  }

  /** Calls back whenever a cluster gets or loses its tunnel. Returns a function that stops it. */
  subscribe(listener: (clusterId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  find(clusterId: string): AgentTunnel | undefined {
    const tunnel = this.#tunnels.get(clusterId);
    return tunnel?.session.acceptsStreams === true ? tunnel : undefined;
  }

  /** Keeps the tunnel with the higher epoch, whichever is added first. */
  add(tunnel: AgentTunnel): void {
    const other = this.#tunnels.get(tunnel.clusterId);
    this.#alive.add(tunnel);
    if (other !== undefined && other.epoch > tunnel.epoch) return replace(tunnel);
    this.#tunnels.set(tunnel.clusterId, tunnel);
    if (other !== undefined) replace(other);
    this.#notify(tunnel.clusterId);
  }

  remove(tunnel: AgentTunnel): void {
    this.#alive.delete(tunnel);
    if (this.#tunnels.get(tunnel.clusterId) !== tunnel) return;
    this.#tunnels.delete(tunnel.clusterId);
    this.#notify(tunnel.clusterId);
  }

  closeCluster(clusterId: string): void {
    const tunnel = this.#tunnels.get(clusterId);
    if (tunnel !== undefined) forbid(tunnel);
  }

  closeTokens(hashes: ReadonlySet<string>): void {
    for (const tunnel of this.#alive) {
      if (hashes.has(tunnel.tokenHash)) tunnel.session.close(TUNNEL_CLOSE_CODES.unauthorized, 'the token was revoked');
    }
  }

  /** Closes the cluster's tunnel unless it was opened with this token. */
  closeOtherTokens(clusterId: string, keptHash: string): void {
    const tunnel = this.#tunnels.get(clusterId);
    if (tunnel === undefined || tunnel.tokenHash === keptHash) return;
    tunnel.session.close(TUNNEL_CLOSE_CODES.unauthorized, 'the token was rotated');
  }

  /**
   * Closes tunnels whose agent has a newer one at another replica. `renew` renews the leases of all tunnels and returns
   * the epochs by cluster. A tunnel that opens meanwhile may be missing there and stays. The tunnel of a removed cluster
   * is missing too: `exists` tells the two apart, so that its agent does not dial again.
   */
  async keepRenewed(
    renew: () => Promise<ReadonlyMap<string, number>>,
    exists: (clusterId: string) => Promise<boolean>,
  ): Promise<void> {
    const held = [...this.#tunnels.values()];
    if (held.length === 0) return;
    const epochs = await renew();
    for (const tunnel of held) {
      if (epochs.get(tunnel.clusterId) === tunnel.epoch) continue;
      if (await exists(tunnel.clusterId)) replace(tunnel);
      else forbid(tunnel);
    }
  }

  /** Asks every agent to reconnect elsewhere and gives open streams `graceMs` to finish. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    await Promise.all([...this.#alive].map(({ session }) => session.drain(graceMs)));
  }

  #notify(clusterId: string): void {
    for (const listener of this.#listeners) listener(clusterId);
  }
}

function replace({ session }: AgentTunnel): void {
  session.close(TUNNEL_CLOSE_CODES.replaced, 'a newer tunnel of this cluster took over');
}

function forbid({ session }: AgentTunnel): void {
  session.close(TUNNEL_CLOSE_CODES.forbidden, 'the cluster was removed');
}
