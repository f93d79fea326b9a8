import { isAppError } from '@svc/errors';
import { accountErrors } from '../../errors.ts';
import type { Member, Scope, Team, Workspace } from '../records.ts';
import type { AccountStores } from '../stores.ts';
import type { WorkspaceSubject } from './rule.ts';
import { parseScopes } from '../tokens/service-accounts.ts';
import { allows, allowsKind, scopeSubjects, teamSubjectOf } from './subjects.ts';
import { findRule } from './table.ts';

/** The part of a principal that a decision needs. */
export interface Caller {
  kind: 'user' | 'service_account' | 'guest';
  id: string;
  workspaceUuid?: string;
  scopes?: readonly Scope[];
  /** True for the operator of the installation. */
  operator?: boolean;
}

export interface WorkspaceGrant {
  workspaceUuid: string;
  role: 'owner' | 'admin' | 'member' | 'guest' | 'service_account';
  teamUuid: string | null;
}

export interface TeamGrant {
  team: Team;
  member: Member;
}

type Stores = Pick<AccountStores, 'workspaces' | 'members' | 'teams' | 'serviceAccounts'>;

/** Refuses actions that callers of this kind may never perform. Throws FORBIDDEN. */
export function permit(caller: Caller, action: string): void {
  const rule = findRule(action);
  const allowed = rule.scope === 'installation' ? caller.operator === true : allowsKind(rule, caller.kind);
  if (!allowed) throw accountErrors.FORBIDDEN();
}

/** Whether the action affects the account itself and therefore requires a recent confirmation. */
export function needsConfirmation(action: string): boolean {
  const rule = findRule(action);
  return rule.scope === 'self' && rule.confirmed === true;
}

/**
 * The single decision about a workspace. A caller without access gets 404 whether or not it exists; a caller who names
 * a team without being a member gets 403 whether or not the team exists. A caller whose role is too low gets 403.
 */
export async function authorizeWorkspace(
  stores: Stores,
  caller: Caller,
  action: string,
  target: { workspaceUuid?: string | undefined; teamUuid?: string | undefined },
): Promise<WorkspaceGrant> {
  const rule = findRule(action);
  if (rule.scope !== 'workspace') throw new Error(`action ${action} does not act on a workspace`);
  const { grant, subjects } = await reach(stores, caller, target);
  if (!allows(rule, subjects)) throw accountErrors.FORBIDDEN();
  return grant;
}

/**
 * What a caller may do in a workspace through any current role: as owner, service account, or member of its team. The
 * returned function decides per action, by the same table as `authorizeWorkspace`.
 */
export async function workspaceRules(
  stores: Stores,
  caller: Caller,
  workspaceUuid: string,
): Promise<(action: string) => boolean> {
  const teamUuid = (await living(stores, workspaceUuid))?.teamUuid ?? undefined;
  try {
    const { subjects } = await reach(stores, caller, { workspaceUuid, teamUuid });
    return (action) => allows(findRule(action), subjects);
  } catch (error) {
    if (isAppError(error) && error.status < 500) return () => false;
    throw error;
  }
}

/** The single decision about a team. Non-members get 404 whether or not it exists. */
export async function authorizeTeam(
  stores: Stores,
  caller: Caller,
  action: string,
  teamUuid: string,
): Promise<TeamGrant> {
  const rule = findRule(action);
  if (rule.scope !== 'team') throw new Error(`action ${action} does not act on a team`);
  permit(caller, action);
  const member = await stores.members.get(teamUuid, caller.id);
  const team = member === undefined ? undefined : await stores.teams.byUuid(teamUuid);
  if (member === undefined || team === undefined) throw accountErrors.TEAM_NOT_FOUND();
  const subject = teamSubjectOf(member.role, team.ownerId === caller.id);
  if (!allows(rule, [subject])) throw accountErrors.FORBIDDEN();
  return { team, member };
}

interface Reach {
  grant: WorkspaceGrant;
  subjects: readonly WorkspaceSubject[];
}

async function reach(
  stores: Stores,
  caller: Caller,
  target: { workspaceUuid?: string | undefined; teamUuid?: string | undefined },
): Promise<Reach> {
  if (caller.kind === 'service_account') return reachAsServiceAccount(stores, caller, target.workspaceUuid);
  if (caller.kind === 'user' && target.workspaceUuid === undefined && target.teamUuid !== undefined) {
    return reachTeamDefault(stores, caller, target.teamUuid);
  }
  const workspace =
    target.workspaceUuid === undefined
      ? await stores.workspaces.firstOwnedBy(caller.id)
      : await living(stores, target.workspaceUuid);
  if (workspace?.ownerId === caller.id) {
    const subjects: WorkspaceSubject[] = [caller.kind === 'guest' ? 'guest_user' : 'owner'];
    return { grant: { workspaceUuid: workspace.uuid, role: 'owner', teamUuid: workspace.teamUuid }, subjects };
  }
  if (caller.kind === 'guest' || target.teamUuid === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
  const member = await membership(stores, caller, target.teamUuid);
  if (workspace?.teamUuid !== member.teamUuid) throw accountErrors.WORKSPACE_NOT_FOUND();
  return reachAsMember(workspace, member);
}

/** A service account has one workspace; if it matches, the team check is skipped (contract, section 5). */
async function reachAsServiceAccount(
  stores: Stores,
  caller: Caller,
  workspaceUuid: string | undefined = caller.workspaceUuid,
): Promise<Reach> {
  // The caller's data may be stale: the account may have been deleted or its scopes changed.
  const account = await stores.serviceAccounts.byId(caller.id);
  if (account === undefined) throw accountErrors.UNAUTHORIZED();
  const workspace =
    workspaceUuid === undefined || workspaceUuid !== account.workspaceUuid
      ? undefined
      : await living(stores, workspaceUuid);
  if (workspace === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
  return {
    grant: { workspaceUuid: workspace.uuid, role: 'service_account', teamUuid: workspace.teamUuid },
    subjects: scopeSubjects(parseScopes(account)),
  };
}

/** A team without a workspace means the team's first workspace, never the caller's own. */
async function reachTeamDefault(stores: Stores, caller: Caller, teamUuid: string): Promise<Reach> {
  const member = await membership(stores, caller, teamUuid);
  const workspace = await stores.workspaces.firstOfTeam(teamUuid);
  if (workspace === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
  if (workspace.ownerId === caller.id) {
    return { grant: { workspaceUuid: workspace.uuid, role: 'owner', teamUuid }, subjects: ['owner'] };
  }
  return reachAsMember(workspace, member);
}

function reachAsMember(workspace: Workspace, member: Member): Reach {
  return {
    grant: { workspaceUuid: workspace.uuid, role: member.role, teamUuid: member.teamUuid },
    subjects: [member.role],
  };
}

async function membership(stores: Stores, caller: Caller, teamUuid: string): Promise<Member> {
  const member = await stores.members.get(teamUuid, caller.id);
  if (member === undefined) throw accountErrors.NOT_TEAM_MEMBER();
  return member;
}

async function living(stores: Stores, uuid: string): Promise<Workspace | undefined> {
  const workspace = await stores.workspaces.byUuid(uuid);
  return workspace === undefined || workspace.deletingSince !== null ? undefined : workspace;
}
