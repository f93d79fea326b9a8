import type { CreatedInvitation, Invitation, Member, Page, Team, TeamRole } from './accounts-types.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { CallOptions, Transport } from './transport.ts';

/**
 * Teams, their members and their open invitations.
 *
 * @example
 * ```ts
 * const team = await svc.teams.create('Backend');
 * ```
 */
export class TeamsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists one page of the caller's teams. */
  list(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<Team>> {
    return listPage(this.#transport, 'teams', { path: '/api/v1/teams', query: pageParameters(page), ...options });
  }

  /** Creates a team. */
  create(name: string, options: CallOptions = {}): Promise<Team> {
    return this.#transport.call({ method: 'POST', path: '/api/v1/teams', body: { name }, ...options });
  }

  /** Renames a team. */
  rename(team: string, name: string, options: CallOptions = {}): Promise<Team> {
    return this.#transport.call({ method: 'PATCH', path: teamPath(team), body: { name }, ...options });
  }

  /** Deletes a team. Its workspaces stay with their owners. */
  async delete(team: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: teamPath(team), ...options });
  }

  /** Makes another member the owner. The caller remains an admin. */
  transfer(team: string, userId: string, options: CallOptions = {}): Promise<Team> {
    const body = { user_id: userId };
    return this.#transport.call({ method: 'POST', path: `${teamPath(team)}/transfer`, body, ...options });
  }

  /** Lists one page of members. */
  members(team: string, page: PageQuery = {}, options: CallOptions = {}): Promise<Page<Member>> {
    const path = `${teamPath(team)}/members`;
    return listPage(this.#transport, 'members', { path, query: pageParameters(page), ...options });
  }

  /** Changes a member's role. */
  setRole(team: string, userId: string, role: TeamRole, options: CallOptions = {}): Promise<Member> {
    return this.#transport.call({ method: 'PATCH', path: memberPath(team, userId), body: { role }, ...options });
  }

  /** Removes a member. */
  async removeMember(team: string, userId: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: memberPath(team, userId), ...options });
  }

  /** Lists one page of open invitations. */
  invitations(team: string, page: PageQuery = {}, options: CallOptions = {}): Promise<Page<Invitation>> {
    const path = `${teamPath(team)}/invitations`;
    return listPage(this.#transport, 'invitations', { path, query: pageParameters(page), ...options });
  }

  /** Invites a person. The link is in this response only. */
  invite(
    team: string,
    invitation: { email: string; role: TeamRole; expiresInSeconds?: number },
    options: CallOptions = {},
  ): Promise<CreatedInvitation> {
    const { email, role, expiresInSeconds } = invitation;
    const body = { email, role, expires_in: expiresInSeconds };
    return this.#transport.call({ method: 'POST', path: `${teamPath(team)}/invitations`, body, ...options });
  }

  /** Revokes an open invitation. */
  async revokeInvitation(team: string, id: string, options: CallOptions = {}): Promise<void> {
    const path = `${teamPath(team)}/invitations/${encodeURIComponent(id)}`;
    await this.#transport.call({ method: 'DELETE', path, ...options });
  }
}

function teamPath(team: string): string {
  return `/api/v1/teams/${encodeURIComponent(team)}`;
}

function memberPath(team: string, userId: string): string {
  return `${teamPath(team)}/members/${encodeURIComponent(userId)}`;
}
