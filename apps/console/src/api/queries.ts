import { UnauthorizedError, type AuditQuery, type Caller, type CoreClient, type User, type Workspace } from '@svc/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { allPages } from './all-pages.ts';

const STATUS_EVERY_MS = 5000;

export const meKey = ['me'] as const;

/** The console's session always belongs to a user. */
export type SignedInUser = Caller & { user: User };

export function meQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: meKey,
    queryFn: async ({ signal }) => requireUser(await svc.accounts.me({ signal })),
    staleTime: 60_000,
  });
}

function requireUser(caller: Caller): SignedInUser {
  const { user } = caller;
  if (user !== null) return { ...caller, user };
  throw new UnauthorizedError({
    status: 401,
    code: 'NOT_A_USER',
    message: 'The console is for user accounts only',
    requestId: null,
    details: {},
    retryAfterSeconds: null,
  });
}

export function workspacesQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: ['workspaces'],
    queryFn: ({ signal }) => allPages((cursor) => svc.workspaces.list({ cursor }, { signal })),
    staleTime: 60_000,
  });
}

export function quotasQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: ['quotas', workspace.uuid],
    queryFn: ({ signal }) => svc.workspaces.quotas(scopeOf(workspace), { signal }),
    refetchInterval: STATUS_EVERY_MS,
  });
}

/** Replicas and nodes, polled while shown. Only for operators. */
export function nodesQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => svc.nodes.list({ signal }),
    refetchInterval: STATUS_EVERY_MS,
  });
}

export function teamsQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: ['teams'],
    queryFn: ({ signal }) => allPages((cursor) => svc.teams.list({ cursor }, { signal })),
    staleTime: 60_000,
  });
}

export function tokensQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => allPages((cursor) => svc.accounts.tokens({ cursor }, { signal })),
  });
}

export function sshKeysQuery(svc: CoreClient) {
  return queryOptions({
    queryKey: ['ssh-keys'],
    queryFn: ({ signal }) => allPages((cursor) => svc.accounts.sshKeys({ cursor }, { signal })),
  });
}

export function membersQuery(svc: CoreClient, team: string) {
  return queryOptions({
    queryKey: ['teams', team, 'members'],
    queryFn: ({ signal }) => allPages((cursor) => svc.teams.members(team, { cursor }, { signal })),
  });
}

export function invitationsQuery(svc: CoreClient, team: string) {
  return queryOptions({
    queryKey: ['teams', team, 'invitations'],
    queryFn: ({ signal }) => allPages((cursor) => svc.teams.invitations(team, { cursor }, { signal })),
  });
}

/** State of the services, polled while shown. */
export function statusQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: ['status', workspace.uuid],
    queryFn: ({ signal }) => svc.platform.status(scopeOf(workspace), { signal }),
    refetchInterval: STATUS_EVERY_MS,
    staleTime: STATUS_EVERY_MS,
  });
}

export type AuditFilters = Pick<AuditQuery, 'actor' | 'action' | 'since'>;

/** The audit log of a workspace; with null, entries about the account (operators see everything). */
export function auditQuery(svc: CoreClient, workspace: Workspace | null, filters: AuditFilters, pageSize = 50) {
  const scope = workspace === null ? {} : scopeOf(workspace);
  return infiniteQueryOptions({
    queryKey: ['audit', workspace?.uuid ?? null, filters, pageSize],
    queryFn: ({ signal, pageParam }) =>
      svc.accounts.audit({ ...scope, ...filters, cursor: pageParam, pageSize }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    maxPages: 40,
  });
}

/** Team members must name the team to access its workspace; the owner does not. */
export function scopeOf(workspace: Workspace): { workspaceUuid: string; teamUuid: string | undefined } {
  const teamUuid = workspace.role === 'owner' ? undefined : (workspace.team_uuid ?? undefined);
  return { workspaceUuid: workspace.uuid, teamUuid };
}
