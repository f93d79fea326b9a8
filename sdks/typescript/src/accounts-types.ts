/** Types of the accounts routes, with the field names of the API. All times are ISO 8601, UTC, with milliseconds. */

export interface User {
  id: string;
  email: string;
  name: string;
  /** True for operators of the whole installation. */
  operator: boolean;
  created_at: string;
}

/** Response of `GET /api/auth/me`: a user or a service account. */
export interface Caller {
  user: User | null;
  service_account: { id: string; name: string; scopes: ServiceAccountScope[] } | null;
  /** The workspace used by calls that name none. */
  workspace_uuid: string | null;
  credential: { kind: string; id: string | null };
  /** Send as `X-CSRF-Token` with every change. Null unless the request used the session cookie. */
  csrf_token: string | null;
}

/** Permissions of a service account in its workspace. */
export type ServiceAccountScope = 'read' | 'write' | 'admin';

/** A machine identity of one workspace, without its token. */
export interface ServiceAccount {
  id: string;
  name: string;
  scopes: ServiceAccountScope[];
  /** ID of the user or service account that created it. */
  created_by: string;
  created_at: string;
  /** Null if it never expires. */
  expires_at: string | null;
  /** Precise to one minute; null if never used. */
  last_used_at: string | null;
}

/** A service account to create. */
export interface NewServiceAccount {
  name: string;
  scopes: ServiceAccountScope[];
  expires_at?: string | null;
  /** `e2b`: a key that E2B clients accept. Defaults to `svc`. */
  token_format?: 'svc' | 'e2b';
}

/** A new service account. The token itself is in this response only. */
export interface CreatedServiceAccount extends ServiceAccount {
  token: string;
}

/** Response of a sign-in. */
export interface SignIn {
  access_token: string;
  token_type: 'Bearer';
  /** Lifetime in seconds. */
  expires_in: number;
  user: User;
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[];
  /** Pass as `cursor` to get the next page; null on the last page. */
  nextCursor: string | null;
}

/** An API token, without its secret. */
export interface ApiToken {
  id: string;
  name: string;
  created_at: string;
  /** Null if the token never expires. */
  expires_at: string | null;
  /** Precise to one minute; null if never used. */
  last_used_at: string | null;
  /** True for the token that made this request. */
  current: boolean;
}

/** A new API token. The token itself is in this response only. */
export interface CreatedApiToken extends ApiToken {
  token: string;
}

/** A public key that logs its user in over SSH. */
export interface SshKey {
  id: string;
  name: string;
  /** Such as `ssh-ed25519`. */
  type: string;
  /** As `ssh-keygen -l` shows it. */
  fingerprint: string;
  public_key: string;
  created_at: string;
  /** Precise to one minute; null if never used. */
  last_used_at: string | null;
}

/** A member's role in a team. */
export type TeamRole = 'admin' | 'member' | 'guest';

/** A team of users who share workspaces. */
export interface Team {
  uuid: string;
  name: string;
  owner_id: string;
  /** The caller's role; the owner is an admin. */
  role: TeamRole;
  created_at: string;
  updated_at: string;
}

/** A member of a team. */
export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: TeamRole;
  owner: boolean;
  joined_at: string;
}

/** An open invitation to a team, without its link. */
export interface Invitation {
  id: string;
  email: string;
  role: TeamRole;
  /** Id of the user who sent the invitation. */
  invited_by: string;
  created_at: string;
  expires_at: string;
}

/** A new invitation. The link is in this response only. */
export interface CreatedInvitation extends Invitation {
  url: string;
  /** The secret part of the link. */
  token: string;
}

/** The account to create for an invited user who is not signed in. */
export interface NewAccount {
  email: string;
  name: string;
  password: string;
}

/** Response of an accepted invitation. */
export interface AcceptedInvitation {
  team_uuid: string;
  team_name: string;
  role: TeamRole;
  /** True if accepting created the user. */
  created: boolean;
  user: User;
}

/** A workspace, which owns sandboxes, clusters and an object store. */
export interface Workspace {
  uuid: string;
  name: string;
  owner_id: string;
  team_uuid: string | null;
  /** The caller's role. */
  role: 'owner' | TeamRole | 'service_account';
  created_at: string;
  updated_at: string;
}

/** A limit and its current usage. */
export interface QuotaState {
  /** Name of the quota, such as `sandboxes`. */
  name: string;
  title: string;
  description: string;
  unit: 'count' | 'cpus' | 'mib' | 'bytes' | 'per_second' | 'per_minute';
  /** Null if unlimited. */
  limit: number | null;
  /** Null if not counted, such as a rate. */
  used: number | null;
}

/** Quotas of a workspace and, for its owner, of the owner. */
export interface WorkspaceQuotas {
  workspace_uuid: string;
  quotas: QuotaState[];
  /** Totals across all workspaces of the owner; null unless the owner asks. */
  owner: { id: string; quotas: QuotaState[] } | null;
}

/** The subject of a limit: a workspace by its UUID, or an owner by email address or user id. */
export interface QuotaSubject {
  scope: 'workspace' | 'owner';
  subject: string;
}

/** A limit set by the operator. */
export interface QuotaOverride extends QuotaSubject {
  quota: string;
  /** Null if unlimited. */
  limit: number | null;
  updated_at: string;
}

/** How an audited action ended. */
export type AuditOutcome = 'success' | 'refused' | 'failed';

/** An entry of the audit log. */
export interface AuditEntry {
  id: string;
  occurred_at: string;
  actor: { kind: string; id: string | null; name: string | null };
  credential: { kind: string; id: string | null } | null;
  /** The audited action, such as `token:create`. */
  action: string;
  /** The resource as `kind/id`, such as `token/4f…`. */
  resource: string;
  workspace_uuid: string | null;
  outcome: AuditOutcome;
  status: number;
  remote_address: string;
  request_id: string;
  /** An object whose fields depend on the action. */
  details: unknown;
}
