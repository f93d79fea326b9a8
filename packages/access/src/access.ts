import type { IncomingHttpHeaders } from 'node:http';

/** The caller, authenticated once at the edge from a header, a cookie or a WebSocket subprotocol. */
export interface Principal {
  kind: 'user' | 'service_account' | 'guest';
  /** Stable id of the user or service account. */
  id: string;
  /** Display name for the audit log and the UI: an email address, or the name of a service account. */
  name: string;
  credential: 'session' | 'jwt' | 'oidc' | 'api_token' | 'ssh_key' | 'service_account' | 'guest_jwt' | 'access_key';
  /** Id of the session, token, SSH key or access key used, so that it can be revoked or marked as current. */
  credentialId: string | null;
  /**
   * When the token expires (ISO 8601, UTC). Nothing created with the token outlives it. Null for tokens without an
   * expiry and for interactive sign-ins: a sign-in acts for its user, and what the user creates outlives the session.
   */
  expiresAt: string | null;
  /**
   * When the user last confirmed their identity (ISO 8601, UTC); interactive sign-ins only. Sensitive account changes,
   * such as passwords and tokens, require a recent confirmation.
   */
  confirmedAt?: string;
  /** The service account's only workspace and its scopes there; service accounts only. */
  workspaceUuid?: string;
  scopes?: readonly ('read' | 'write' | 'admin')[];
  /** The token that `svc up` creates at each start. It cannot be revoked; the next start replaces it. */
  isStartToken?: boolean;
  /** True for operators of the whole installation. */
  operator?: boolean;
}

/**
 * Identifies a credential without its secret, so that it can be rechecked after the request that presented it.
 * Everything that outlives a request keeps one: open streams, tickets, links. Safe to store as JSON.
 */
export interface CredentialRef {
  principalKind: Principal['kind'];
  principalId: string;
  credential: Principal['credential'];
  credentialId: string | null;
  /** When the credential was presented (ISO 8601, UTC). A later sign-out from all sessions revokes it. */
  shownAt: string;
  /** When the user signed in according to an external issuer; only for its tokens, which have no record here. */
  confirmedAt?: string;
}

/** Creates a reference to the credential of a principal that was authenticated at `now`. */
export function createCredentialRef(principal: Principal, now: Date): CredentialRef {
  const { kind, id, credential, credentialId, confirmedAt } = principal;
  const ref = { principalKind: kind, principalId: id, credential, credentialId, shownAt: now.toISOString() };
  return credential === 'oidc' && confirmedAt !== undefined ? { ...ref, confirmedAt } : ref;
}

/**
 * The creator of a lasting credential, such as an S3 key. Deleting the creator's token also revokes what was created
 * with it. Sign-ins are different: `tokenId` is null and the credential belongs to the user alone.
 */
export interface Maker {
  principalId: string;
  /** The API token or service account used. */
  tokenId: string | null;
}

/** Returns the maker to record for anything this principal creates now. */
export function createMaker({ id, credential, credentialId, isStartToken }: Principal): Maker {
  // The start token acts for its user; otherwise its creations would end at the next start.
  const isToken = (credential === 'api_token' && isStartToken !== true) || credential === 'service_account';
  return { principalId: id, tokenId: isToken ? credentialId : null };
}

/**
 * The caller's role in a workspace: its owner, a role of its team (admin, member, guest), or its service account. A
 * guest user is the `owner` of their own workspace.
 */
export type Role = 'owner' | 'admin' | 'member' | 'guest' | 'service_account';

/** The result of `authorize`: the workspace of the call and the caller's role in it. */
export interface Grant {
  workspaceUuid: string;
  role: Role;
  teamUuid: string | null;
}

/** `noun:verb`, such as `bucket:create`. The accounts module defines all actions. */
export type Action = `${string}:${string}`;

/** The parts of a request that may contain a credential. */
export interface CredentialSource {
  headers: IncomingHttpHeaders;
  method: string;
  remoteAddress: string;
  /** Whether the client used TLS, to this process or to a trusted proxy. If so, only `__Host-` cookies count. */
  isSecure: boolean;
}

/** A request for permission to perform an action in a workspace. */
export interface AuthorizeRequest {
  principal: Principal;
  action: Action;
  /** Defaults to the principal's own workspace. */
  workspaceUuid?: string | undefined;
  /** The value of `?team_uuid=`, which team members use to reach the team's workspace. */
  teamUuid?: string | undefined;
}

/** A request for the current permissions of a maker in a workspace. */
export interface MakerRequest {
  maker: Maker;
  workspaceUuid: string;
  actions: readonly Action[];
}

/** Port to the accounts module. Throws `AppError`s (401, 403, 404) that reveal nothing about resources. */
export interface Access {
  authenticate(source: CredentialSource): Promise<Principal>;
  /**
   * Returns the user of a registered SSH key, by its fingerprint as OpenSSH shows it. The caller has verified that the
   * client holds the private key. Throws UNAUTHORIZED for an unknown key.
   */
  authenticateSshKey(fingerprint: string): Promise<Principal>;
  authorize(request: AuthorizeRequest): Promise<Grant>;
  /**
   * Returns the current principal for a credential. Throws UNAUTHORIZED if the credential was revoked, its principal
   * was deleted or its token expired. An expired JWT stays valid while its session does.
   */
  recheck(ref: CredentialRef): Promise<Principal>;
  /**
   * Returns the actions that a maker may currently perform in a workspace: as its owner, through its current team, or
   * as its service account. Empty if the maker, its token or the workspace was deleted.
   */
  allowedActions(request: MakerRequest): Promise<ReadonlySet<Action>>;
  /**
   * Authorizes actions on the principal's own account. Refuses principal kinds that may never perform the action, such
   * as guests creating tokens, and sign-ins without a recent confirmation for sensitive account changes.
   */
  permit(principal: Principal, action: Action): Promise<void>;
}

/** An entry for the audit log. */
export interface AuditEntry {
  principal: Principal | null;
  action: Action;
  /** The resource as `kind/id`, such as `bucket/photos`. */
  resource: string;
  workspaceUuid: string | null;
  outcome: 'success' | 'refused' | 'failed';
  status: number;
  remoteAddress: string;
  requestId: string;
  details?: Record<string, unknown>;
}

/** Port to the append-only audit log. */
export interface AuditLog {
  record(entry: AuditEntry): Promise<void>;
}
