/** Shapes of the accounts routes, with the names of the wire. All times are ISO 8601, UTC, with milliseconds. */

export interface User {
  id: string;
  email: string;
  name: string;
  /** True for the operator of the whole installation. */
  operator: boolean;
  created_at: string;
}

/** Answer of `GET /api/auth/me`: either a user or a service account. */
export interface Caller {
  user: User | null;
  service_account: { id: string; name: string; scopes: ServiceAccountScope[] } | null;
  /** The workspace of calls that name none. */
  workspace_uuid: string | null;
  credential: { kind: string; id: string | null };
  /** Goes into `X-CSRF-Token` of every change; null unless the session cookie was shown. */
  csrf_token: string | null;
}

export type ServiceAccountScope = 'read' | 'write' | 'admin';

/** Answer of a sign-in. */
export interface SignIn {
  access_token: string;
  token_type: 'Bearer';
  /** Seconds. */
  expires_in: number;
  user: User;
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Goes into `cursor` of the next call; null on the last page. */
  nextCursor: string | null;
}

export interface ApiToken {
  id: string;
  name: string;
  created_at: string;
  /** Null: it never expires. */
  expires_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** True for the token that the very request showed. */
  current: boolean;
}

/** The one answer that carries the token itself. */
export interface CreatedApiToken extends ApiToken {
  token: string;
}

export type TeamRole = 'admin' | 'member' | 'guest';

export interface Team {
  uuid: string;
  name: string;
  owner_id: string;
  /** The caller's role; the owner is an admin. */
  role: TeamRole;
  created_at: string;
  updated_at: string;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: TeamRole;
  owner: boolean;
  joined_at: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: TeamRole;
  /** A user's id. */
  invited_by: string;
  created_at: string;
  expires_at: string;
}

/** The one answer that carries the link. */
export interface CreatedInvitation extends Invitation {
  url: string;
  /** The secret part of the link. */
  token: string;
}

/** What makes the user who accepts an invitation without being signed in. */
export interface NewAccount {
  email: string;
  name: string;
  password: string;
}

export interface AcceptedInvitation {
  team_uuid: string;
  team_name: string;
  role: TeamRole;
  /** True when the user was made by this. */
  created: boolean;
  user: User;
}

export interface Workspace {
  uuid: string;
  name: string;
  owner_id: string;
  team_uuid: string | null;
  /** The caller's. */
  role: 'owner' | TeamRole | 'service_account';
  created_at: string;
  updated_at: string;
}

/** A limit and what is used of it. */
export interface QuotaState {
  /** Such as `sandboxes`. */
  name: string;
  title: string;
  description: string;
  unit: 'count' | 'cpus' | 'mib' | 'bytes' | 'per_second' | 'per_minute';
  /** Null: unlimited. */
  limit: number | null;
  /** Null: not counted, such as a rate. */
  used: number | null;
}

export interface WorkspaceQuotas {
  workspace_uuid: string;
  quotas: QuotaState[];
  /** Sums over all workspaces of the owner; null unless the owner asks. */
  owner: { id: string; quotas: QuotaState[] } | null;
}

/** Whose limit it is: a workspace by its uuid, an owner by e-mail or user id. */
export interface QuotaSubject {
  scope: 'workspace' | 'owner';
  subject: string;
}

/** A limit that the operator set. */
export interface QuotaOverride extends QuotaSubject {
  quota: string;
  /** Null: unlimited. */
  limit: number | null;
  updated_at: string;
}

export type AuditOutcome = 'success' | 'refused' | 'failed';

export interface AuditEntry {
  id: string;
  occurred_at: string;
  actor: { kind: string; id: string | null; name: string | null };
  credential: { kind: string; id: string | null } | null;
  /** Such as `token:create`. */
  action: string;
  /** A kind and an id, such as `token/4f…`. */
  resource: string;
  workspace_uuid: string | null;
  outcome: AuditOutcome;
  status: number;
  remote_address: string;
  request_id: string;
  /** An object whose fields depend on the action. */
  details: unknown;
}
