import type { GrantedAccess } from '@svc/access';

export interface TunnelLink {
  clusterId: string;
  service: string;
  /** Access granted to the link's creator: the link stops working once the same access would be denied. */
  granted: GrantedAccess;
  expiresAt: string;
}

/**
 * Tracks which replica holds the tunnel of a cluster's agent. All methods except `open` are no-ops once a newer epoch
 * exists.
 */
export interface TunnelStore {
  open(clusterId: string, replicaId: string, at: string, leaseUntil: string): Promise<number>;
  close(clusterId: string, epoch: number): Promise<void>;
  /** The replica with a valid lease; null if no replica holds a tunnel. */
  holder(clusterId: string, now: string): Promise<string | null>;
  /** Renews all leases of this replica and returns the epochs that it still holds. */
  renew(replicaId: string, leaseUntil: string): Promise<Map<string, number>>;
  forget(replicaId: string): Promise<void>;
  addLink(hash: string, link: TunnelLink, createdAt: string): Promise<void>;
  findLink(hash: string, now: string): Promise<TunnelLink | undefined>;
  pruneLinks(now: string): Promise<void>;
}
