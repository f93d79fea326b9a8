/** Subjects in a workspace. `guest` is the team role; `guest_user` signed in as a guest. */
export type WorkspaceSubject =
  | 'owner'
  | 'admin'
  | 'member'
  | 'guest'
  | 'sat_read'
  | 'sat_write'
  | 'sat_admin'
  | 'guest_user';

/** Subjects acting on their own resources. */
export type SelfSubject = 'user' | 'service_account' | 'guest_user';

export type TeamSubject = 'team_owner' | 'team_admin' | 'team_member' | 'team_guest';

export type Rule =
  /** In one workspace; callers without access to it get 404. */
  | { scope: 'workspace'; allows: readonly WorkspaceSubject[]; summary: string }
  /** On the caller's own resources; `confirmed`: only in a sign-in confirmed within the last minutes. */
  | { scope: 'self'; allows: readonly SelfSubject[]; summary: string; confirmed?: true }
  /** On the whole installation: the operator only. */
  | { scope: 'installation'; allows: readonly ['operator']; summary: string }
  /** On a team itself; non-members get 404. */
  | { scope: 'team'; allows: readonly TeamSubject[]; summary: string }
  /** Before authentication; what the caller presents (a password, an invitation) decides. */
  | { scope: 'public'; allows: readonly ['anybody']; summary: string };

const OWNER = ['owner'] as const;
const ADMINS = ['owner', 'admin', 'sat_admin'] as const;
const WRITERS = ['owner', 'admin', 'member', 'sat_write', 'sat_admin'] as const;
const READERS = ['owner', 'admin', 'member', 'guest', 'sat_read', 'sat_write', 'sat_admin'] as const;

/** The owner only: actions that decide who owns the workspace. No service account may perform them. */
export function byOwner(summary: string): Rule {
  return { scope: 'workspace', allows: OWNER, summary };
}

export function byAdmins(summary: string): Rule {
  return { scope: 'workspace', allows: ADMINS, summary };
}

export function byWriters(summary: string): Rule {
  return { scope: 'workspace', allows: WRITERS, summary };
}

export function byReaders(summary: string): Rule {
  return { scope: 'workspace', allows: READERS, summary };
}

/** Extends `rule` to guests in their own workspace: sandboxes are all that a guest sign-in grants. */
export function andGuestUsers(rule: Rule): Rule {
  if (rule.scope !== 'workspace') throw new Error('guests have rights in a workspace only');
  return { ...rule, allows: [...rule.allows, 'guest_user'] };
}

export function bySelf(summary: string, allows: readonly SelfSubject[] = ['user']): Rule {
  return { scope: 'self', allows, summary };
}

/** Actions on the account itself: not with API tokens, nor in a session left open. */
export function byConfirmedSelf(summary: string): Rule {
  return { scope: 'self', allows: ['user'], summary, confirmed: true };
}

/** The operator of the installation; never a service account or guest. */
export function byOperator(summary: string): Rule {
  return { scope: 'installation', allows: ['operator'], summary };
}

export function byTeam(summary: string, allows: readonly TeamSubject[]): Rule {
  return { scope: 'team', allows, summary };
}

export function byAnybody(summary: string): Rule {
  return { scope: 'public', allows: ['anybody'], summary };
}
