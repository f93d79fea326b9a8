import type { IncomingHttpHeaders } from 'node:http';

/** Who calls: decided once at the edge, from a header, a cookie or a subprotocol. */
export interface Principal {
  kind: 'user' | 'service_account' | 'guest';
  /** Stable id of the user or of the service account. */
  id: string;
  /** For the audit log and for greetings: an e-mail, or the name of a service account. */
  name: string;
  credential: 'session' | 'jwt' | 'oidc' | 'api_token' | 'service_account' | 'guest_jwt';
  /** The id of the session or the token that was shown, so that it can be revoked or shown as current. */
  credentialId: string | null;
  /** Only for service accounts: their one workspace and what they may do there. */
  workspaceUuid?: string;
  scopes?: readonly ('read' | 'write' | 'admin')[];
  /** True for the operator of the whole installation. */
  operator?: boolean;
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
}

export interface AuthorizeRequest {
  principal: Principal;
  action: Action;
  /** Absent: the principal's own default workspace. */
  workspaceUuid?: string | undefined;
  /** The value of `?team_uuid=`, with which members of a team reach its workspace. */
  teamUuid?: string | undefined;
}

/** Port to the accounts module. Both methods throw an `AppError` (401, 403, 404) and never answer a hint. */
export interface Access {
  authenticate(source: CredentialSource): Promise<Principal>;
  authorize(request: AuthorizeRequest): Promise<Grant>;
  /** For actions on what is the principal's own: refuses kinds that may never do it, such as a guest making tokens. */
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
