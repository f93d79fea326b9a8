/** Shapes of the accounts routes. All times are ISO 8601, UTC, with milliseconds. */

export interface User {
  id: string;
  email: string;
  name: string;
  /** True for the operator of the whole installation. */
  operator: boolean;
}

/** Answer of `GET /api/auth/me`. */
export interface CurrentUser {
  user: User;
  /** Goes into `X-CSRF-Token` of every change; null when the caller came with a token and no cookie. */
  csrf_token: string | null;
  default_workspace_uuid: string | null;
}

export interface ApiToken {
  id: string;
  name: string;
  created_at: string;
  /** Null: it never expires. */
  expires_at: string | null;
  last_used_at: string | null;
}

/** The one answer that carries the token itself. */
export interface CreatedApiToken extends ApiToken {
  token: string;
}

export type TeamRole = 'owner' | 'admin' | 'member' | 'guest';
/** A role that can be given; ownership is transferred instead. */
export type GivenRole = Exclude<TeamRole, 'owner'>;

export interface Team {
  uuid: string;
  name: string;
  /** The caller's role. */
  role: TeamRole;
  created_at: string;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: TeamRole;
  joined_at: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: GivenRole;
  created_at: string;
  expires_at: string;
}

/** The one answer that carries the link. */
export interface CreatedInvitation extends Invitation {
  url: string;
  token: string;
}

export interface Workspace {
  uuid: string;
  name: string;
  team_uuid: string | null;
  role: TeamRole;
  created_at: string;
}

export type AuditOutcome = 'success' | 'refused' | 'failed';

export interface AuditRecord {
  id: string;
  at: string;
  actor: string;
  actor_kind: string;
  action: string;
  resource: string;
  outcome: AuditOutcome;
  status: number;
  remote_address: string;
  request_id: string;
  workspace_uuid: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface AuditPage {
  entries: AuditRecord[];
  /** Null on the last page. */
  next_cursor: string | null;
}
