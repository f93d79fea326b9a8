import type { GrantedAccess } from '@svc/access';

export interface PreviewLink {
  readonly id: string;
  readonly sandboxId: string;
  readonly port: number;
  readonly ownerId: string;
  /** The creator's access at creation; the link stops working once the same access would be refused. */
  readonly granted: GrantedAccess;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface PreviewLinkRepository {
  /** Returns false if the sandbox already has `limit` links. Removes expired ones first. */
  insert(link: PreviewLink, limit: number): Promise<boolean>;
  /** Null if the link was revoked. */
  find(id: string): Promise<PreviewLink | null>;
  /** Links that have not expired, newest first. */
  list(sandboxId: string, now: string): Promise<readonly PreviewLink[]>;
  /** Removes all links of the sandbox, or those of one port. Returns the ids of removed links. */
  remove(sandboxId: string, port: number | null): Promise<readonly string[]>;
}
