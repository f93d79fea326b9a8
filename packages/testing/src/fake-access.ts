import { randomUUID } from 'node:crypto';
import {
  subprotocolToken,
  type Access,
  type Action,
  type AuthorizeRequest,
  type Grant,
  type Principal,
  type Role,
} from '@svc/access';
import { defineErrors } from '@svc/errors';
import { fakeRoleAllows, fakeScopesAllow } from './fake-role-table.ts';

/** The codes and statuses of the real accounts module, so that tests of refusals match it. */
const errors = defineErrors({
  UNAUTHORIZED: [401, 'Missing or invalid credentials'],
  FORBIDDEN: [403, 'Insufficient permissions'],
  NOT_FOUND: [404, 'Not found'],
});

const SELF_READS: ReadonlySet<string> = new Set(['account:read', 'workspace:list']);

/** A caller; spread `headers` into a request. */
export interface FakeCaller {
  readonly principal: Principal;
  readonly token: string;
  readonly headers: { readonly authorization: string };
  /** The workspace used when a request names none. */
  readonly workspaceUuid: string;
}

interface FakeWorkspace {
  readonly uuid: string;
  readonly ownerId: string | null;
  teamUuid: string | null;
}

export interface FakeAccess extends Access {
  /** Creates a user with their own workspace. */
  user(name: string): FakeCaller;
  /** Creates a `sat_` service account of one workspace. */
  serviceAccount(workspaceUuid: string, scopes: readonly ('read' | 'write' | 'admin')[]): FakeCaller;
  /** Creates a guest JWT: sandboxes only, in its own workspace. */
  guest(name?: string): FakeCaller;
  /** Moves the workspace into a team. Returns the team's UUID, which members send as `?team_uuid=`. */
  team(workspaceUuid: string): string;
  join(teamUuid: string, caller: FakeCaller, role: 'admin' | 'member' | 'guest'): void;
  /** Removes a member from a team. */
  leave(teamUuid: string, caller: FakeCaller): void;
  /** Registers an SSH key of the caller's user, by fingerprint. Returns the user as a caller with that key. */
  sshKey(caller: FakeCaller, fingerprint: string): FakeCaller;
  /** Revokes a token or an SSH key from now on. */
  revoke(caller: FakeCaller): void;
}

/**
 * Creates an access port for tests of a module: the same decisions as the accounts module (a contract test compares the
 * two tables), without its storage.
 */
export function fakeAccess(): FakeAccess {
  const callers = new Map<string, FakeCaller>();
  const workspaces = new Map<string, FakeWorkspace>();
  const teams = new Map<string, Map<string, Role>>();

  const addWorkspace = (ownerId: string | null): string => {
    const uuid = randomUUID();
    workspaces.set(uuid, { uuid, ownerId, teamUuid: null });
    return uuid;
  };
  const addCaller = (principal: Principal, workspaceUuid: string): FakeCaller => {
    const token = `${principal.kind}-${randomUUID()}`;
    const caller = { principal, token, headers: { authorization: `Bearer ${token}` }, workspaceUuid };
    callers.set(token, caller);
    return caller;
  };

  return {
    user: (name) => {
      const id = randomUUID();
      const principal: Principal = {
        kind: 'user',
        id,
        name,
        credential: 'api_token',
        credentialId: randomUUID(),
        expiresAt: null,
      };
      return addCaller(principal, addWorkspace(id));
    },
    guest: (name = 'guest') => {
      const id = randomUUID();
      const principal: Principal = {
        kind: 'guest',
        id,
        name,
        credential: 'guest_jwt',
        credentialId: null,
        expiresAt: null,
      };
      return addCaller(principal, addWorkspace(id));
    },
    serviceAccount: (workspaceUuid, scopes) => {
      const id = randomUUID();
      const name = 'service account';
      const credential = 'service_account';
      return addCaller(
        { kind: 'service_account', id, name, credential, credentialId: id, expiresAt: null, workspaceUuid, scopes },
        workspaceUuid,
      );
    },
    team: (workspaceUuid) => {
      const workspace = workspaces.get(workspaceUuid);
      if (workspace === undefined) throw new Error(`no workspace ${workspaceUuid}`);
      workspace.teamUuid ??= randomUUID();
      teams.set(workspace.teamUuid, teams.get(workspace.teamUuid) ?? new Map());
      return workspace.teamUuid;
    },
    join: (teamUuid, caller, role) => void teams.get(teamUuid)?.set(caller.principal.id, role),
    leave: (teamUuid, caller) => void teams.get(teamUuid)?.delete(caller.principal.id),
    sshKey: ({ principal, workspaceUuid }, fingerprint) => {
      const token = sshKeyToken(fingerprint);
      const byKey: Principal = { ...principal, credential: 'ssh_key', credentialId: randomUUID() };
      const caller = { principal: byKey, token, headers: { authorization: '' }, workspaceUuid };
      callers.set(token, caller);
      return caller;
    },
    revoke: (caller) => void callers.delete(caller.token),

    authenticate: async ({ headers }) => {
      const token = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? subprotocolToken(headers);
      const caller = callers.get(token ?? '');
      if (caller === undefined) throw errors.UNAUTHORIZED();
      return caller.principal;
    },
    authenticateSshKey: async (fingerprint) => {
      const caller = callers.get(sshKeyToken(fingerprint));
      if (caller === undefined) throw errors.UNAUTHORIZED();
      return caller.principal;
    },
    authorize: async (request) => {
      const uuid = request.workspaceUuid ?? findDefaultWorkspace(request.principal, callers);
      const workspace = workspaces.get(uuid ?? '');
      if (workspace === undefined) throw errors.NOT_FOUND();
      return decide(request, workspace, teams);
    },
    recheck: async ({ principalId, credentialId }) => {
      const isSame = ({ id, credentialId: shown }: Principal): boolean => id === principalId && shown === credentialId;
      const caller = [...callers.values()].find(({ principal }) => isSame(principal));
      if (caller === undefined) throw errors.UNAUTHORIZED();
      return caller.principal;
    },
    allowedActions: async ({ maker, workspaceUuid, actions }) => {
      const caller = [...callers.values()].find(({ principal }) => principal.id === maker.principalId);
      const workspace = workspaces.get(workspaceUuid);
      if (caller === undefined || workspace === undefined) return new Set();
      if (maker.tokenId !== null && maker.tokenId !== caller.principal.credentialId) return new Set();
      const { principal } = caller;
      const teamUuid = workspace.teamUuid ?? undefined;
      return new Set(actions.filter((action) => isGranted({ principal, action, teamUuid }, workspace, teams)));
    },
    permit: async (principal, action) => {
      const allowed = principal.kind === 'user' || (principal.kind === 'service_account' && SELF_READS.has(action));
      if (!allowed) throw errors.FORBIDDEN({ details: { action } });
    },
  };
}

/** Under which the caller of a key is kept; no header can contain it. */
function sshKeyToken(fingerprint: string): string {
  return `\n${fingerprint}`;
}

function findDefaultWorkspace(principal: Principal, callers: ReadonlyMap<string, FakeCaller>): string | undefined {
  return [...callers.values()].find((caller) => caller.principal.id === principal.id)?.workspaceUuid;
}

function decide(
  { principal, action, teamUuid }: AuthorizeRequest,
  workspace: FakeWorkspace,
  teams: ReadonlyMap<string, ReadonlyMap<string, Role>>,
): Grant {
  const grant = (role: Role, allowed: boolean): Grant => {
    if (!allowed) throw errors.FORBIDDEN({ details: { action } });
    return { workspaceUuid: workspace.uuid, role, teamUuid: workspace.teamUuid };
  };
  if (principal.kind === 'service_account') {
    if (principal.workspaceUuid !== workspace.uuid) throw errors.NOT_FOUND();
    return grant('service_account', fakeScopesAllow(principal.scopes ?? [], action));
  }
  if (workspace.ownerId === principal.id) return grant('owner', principal.kind === 'user' || isSandboxAction(action));
  if (teamUuid === undefined || workspace.teamUuid !== teamUuid) throw errors.NOT_FOUND();
  const role = teams.get(teamUuid)?.get(principal.id);
  if (role === undefined) throw errors.FORBIDDEN();
  return grant(role, fakeRoleAllows(role, action));
}

function isGranted(...[request, workspace, teams]: Parameters<typeof decide>): boolean {
  try {
    decide(request, workspace, teams);
    return true;
  } catch {
    return false;
  }
}

function isSandboxAction(action: Action): boolean {
  return action.startsWith('sandbox:') || action === 'image:list';
}
