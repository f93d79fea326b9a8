import type { GrantedAccess } from '@svc/http';

export interface PreviewLink {
  readonly id: string;
  readonly sandboxId: string;
  readonly port: number;
  readonly ownerId: string;
  /** What its maker was granted: the link is worth nothing once the same would be refused. */
  readonly granted: GrantedAccess;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface PreviewLinkRepository {
  /** Answers false when the sandbox has `limit` links already; expired ones are removed first. */
  insert(link: PreviewLink, limit: number): Promise<boolean>;
  /** Null once the link was revoked. */
  find(id: string): Promise<PreviewLink | null>;
  /** Those that have not expired, the newest first. */
  list(sandboxId: string, now: string): Promise<readonly PreviewLink[]>;
  /** All of the sandbox, or those of one port; answers the ids of what is gone. */
  remove(sandboxId: string, port: number | null): Promise<readonly string[]>;
}
