import type { IncomingHttpHeaders } from 'node:http';

/** Who calls: decided once at the edge, from a header, a cookie or a subprotocol. */
export interface Principal {
  kind: 'user' | 'service_account' | 'guest';
  /** Stable id of the user or of the service account. */
  id: string;
  /** For the audit log and for greetings: an e-mail, or the name of a service account. */
  name: string;
  credential: 'session' | 'jwt' | 'oidc' | 'api_token' | 'service_account' | 'guest_jwt' | 'access_key';
  /** The id of the session, token or access key that was shown, so that it can be revoked or shown as current. */
  credentialId: string | null;
  /**
   * When the token expires (ISO 8601, UTC), which caps the life of everything created with it. Null for tokens without an
   * expiry and for interactive sign-ins: those stand for their user, whose creations outlive the session.
   */
  expiresAt: string | null;
  /**
   * Only for interactive sign-ins: when the user last proved who they are (ISO 8601, UTC). What decides over an account,
   * such as its password and its tokens, needs a proof of the last minutes.
   */
  confirmedAt?: string;
  /** Only for service accounts: their one workspace and what they may do there. */
  workspaceUuid?: string;
  scopes?: readonly ('read' | 'write' | 'admin')[];
  /** The token that `svc up` makes at each start: no one takes it away, the next start replaces it. */
  isStartToken?: boolean;
  /** True for the operator of the whole installation. */
  operator?: boolean;
}

/**
 * Names a credential without its secret, so that its standing can be checked after the request that showed it. Kept by
 * whatever outlives that request: open streams, tickets, links. Safe to store as JSON.
 */
export interface CredentialRef {
  principalKind: Principal['kind'];
  principalId: string;
  credential: Principal['credential'];
  credentialId: string | null;
  /** When the credential was shown (ISO 8601, UTC); a sign-out of all sessions after this time revokes it. */
  shownAt: string;
  /** Only for tokens of an external issuer, which have no record of their own: when they say that the user signed in. */
  confirmedAt?: string;
}

/** The reference to the credential of a principal that was authenticated at `now`. */
export function createCredentialRef(principal: Principal, now: Date): CredentialRef {
  const { kind, id, credential, credentialId, confirmedAt } = principal;
  const ref = { principalKind: kind, principalId: id, credential, credentialId, shownAt: now.toISOString() };
  return credential === 'oidc' && confirmedAt !== undefined ? { ...ref, confirmedAt } : ref;
}

/**
 * Who created a lasting credential, such as an S3 key. A token is part of its maker: deleting the token ends what was
 * created with it. A sign-in is not: `tokenId` is null, and the maker is the user alone.
 */
export interface Maker {
  principalId: string;
  /** The API token or service account that was used. */
  tokenId: string | null;
}

/** The maker of what this principal creates now. */
export function createMaker({ id, credential, credentialId, isStartToken }: Principal): Maker {
  // What the token of a start creates stands for its user: it would end with the next start.
  const isToken = (credential === 'api_token' && isStartToken !== true) || credential === 'service_account';
  return { principalId: id, tokenId: isToken ? credentialId : null };
}

export type Role = 'owner' | 'admin' | 'member' | 'guest' | 'service_account';

/** What `authorize` answers: the workspace that the call works in, and as what. */
export interface Grant {
  workspaceUuid: string;
  role: Role;
  teamUuid: string | null;
}

/** `noun:verb`, such as `bucket:create`; the table of all actions stands in the accounts module. */
export type Action = `${string}:${string}`;

export interface CredentialSource {
  headers: IncomingHttpHeaders;
  method: string;
  remoteAddress: string;
  /** Whether the client came over TLS, to us or to a trusted proxy: then only `__Host-` cookies count. */
  isSecure: boolean;
}

export interface AuthorizeRequest {
  principal: Principal;
  action: Action;
  /** Absent: the principal's own default workspace. */
  workspaceUuid?: string | undefined;
  /** The value of `?team_uuid=`, with which members of a team reach its workspace. */
  teamUuid?: string | undefined;
}

export interface MakerRequest {
  maker: Maker;
  workspaceUuid: string;
  actions: readonly Action[];
}

/** Port to the accounts module. Refusals are `AppError`s (401, 403, 404) that never answer a hint. */
export interface Access {
  authenticate(source: CredentialSource): Promise<Principal>;
  authorize(request: AuthorizeRequest): Promise<Grant>;
  /**
   * The principal behind a credential as it is now. Throws UNAUTHORIZED once the credential was revoked or its principal
   * is gone, and once a token expired. An expired JWT still stands while its session does.
   */
  recheck(ref: CredentialRef): Promise<Principal>;
  /**
   * The actions that a maker may perform in a workspace now, as its owner, through its present team, or as its service
   * account. Empty when the maker, its token or the workspace is gone.
   */
  allowedActions(request: MakerRequest): Promise<ReadonlySet<Action>>;
  /**
   * For actions on what is the principal's own: refuses kinds that may never do it, such as a guest making tokens, and
   * sign-ins that were confirmed too long ago for what decides over the account.
   */
  permit(principal: Principal, action: Action): Promise<void>;
}

export interface AuditEntry {
  principal: Principal | null;
  action: Action;
  /** What was acted on: a kind and an id, such as `bucket/photos`. */
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
