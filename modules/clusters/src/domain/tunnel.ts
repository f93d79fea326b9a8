import type { GrantedAccess } from '@svc/http';

export interface TunnelLink {
  clusterId: string;
  service: string;
  /** What its maker was granted: the link is worth nothing once the same would be refused. */
  granted: GrantedAccess;
  expiresAt: string;
}

/** Who holds the tunnel of a cluster's agent. All but `open` do nothing once a newer epoch is there. */
export interface TunnelStore {
  open(clusterId: string, replicaId: string, at: string, leaseUntil: string): Promise<number>;
  close(clusterId: string, epoch: number): Promise<void>;
  /** The replica whose lease lasts; null when no tunnel stands anywhere. */
  holder(clusterId: string, now: string): Promise<string | null>;
  /** Renews all of this replica and answers the epochs that are still its own. */
  renew(replicaId: string, leaseUntil: string): Promise<Map<string, number>>;
  forget(replicaId: string): Promise<void>;
  addLink(hash: string, link: TunnelLink, createdAt: string): Promise<void>;
  findLink(hash: string, now: string): Promise<TunnelLink | undefined>;
  pruneLinks(now: string): Promise<void>;
}
