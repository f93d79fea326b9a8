import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import { type Page, pageOf } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import type { Member, Team, TeamRole, User } from '../records.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';
import { DEFAULT_WORKSPACE_NAME, newWorkspace } from '../users/create-person.ts';

export type MemberView = Member & Pick<User, 'email' | 'name'>;

/**
 * Members of a team. Every change locks the team's row, so that two admins cannot demote each other and leave no admin.
 */
export class Members {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(database: AccountDatabase, clock: Clock, random: Random) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
  }

  async list(teamUuid: string, page: PageRequest): Promise<Page<MemberView>> {
    const rows = await this.#database.members.ofTeam(teamUuid, page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.userId]);
  }

  async setRole(teamUuid: string, userId: string, role: TeamRole): Promise<MemberView> {
    return this.#database.transact(async (stores) => {
      const { team, member } = await lockedMember(stores, teamUuid, userId);
      if (role !== 'admin') {
        await assertNotOwner(stores, team, userId);
        await stores.invitations.deleteOpenBy(teamUuid, userId);
      }
      await stores.members.setRole(teamUuid, userId, role);
      const user = await stores.users.byId(userId);
      return { ...member, role, email: user?.email ?? null, name: user?.name ?? '' };
    });
  }

  /**
   * Removes a member and their open invitations. Their workspaces in this team pass to the team's owner, because they
   * hold the team's work. A member left without a workspace gets an empty one: every user has a default workspace.
   */
  async remove(teamUuid: string, userId: string): Promise<void> {
    const now = timestamp(this.#clock.now());
    await this.#database.transact(async (stores) => {
      const { team } = await lockedMember(stores, teamUuid, userId);
      await assertNotOwner(stores, team, userId);
      await stores.users.lock(userId);
      await stores.workspaces.reassign(teamUuid, userId, team.ownerId, now);
      if ((await stores.workspaces.countOwnedBy(userId)) === 0) {
        await stores.workspaces.insert(
          newWorkspace({ clock: this.#clock, random: this.#random }, userId, DEFAULT_WORKSPACE_NAME, null),
        );
      }
      await stores.invitations.deleteOpenBy(teamUuid, userId);
      await stores.members.delete(teamUuid, userId);
    });
  }
}

async function lockedMember(
  stores: AccountStores,
  teamUuid: string,
  userId: string,
): Promise<{ team: Team; member: Member }> {
  await stores.teams.lock(teamUuid);
  const team = await stores.teams.byUuid(teamUuid);
  const member = await stores.members.get(teamUuid, userId);
  if (team === undefined || member === undefined) throw accountErrors.MEMBER_NOT_FOUND();
  return { team, member };
}

/** The owner is always an admin, so a team never loses its last one. */
async function assertNotOwner(stores: AccountStores, team: Team, userId: string): Promise<void> {
  if (team.ownerId !== userId) return;
  const admins = await stores.members.count(team.uuid, 'admin');
  throw admins <= 1 ? accountErrors.LAST_ADMIN() : accountErrors.TEAM_OWNER();
}
