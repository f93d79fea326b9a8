import type { Clock, Random } from '@svc/runtime';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import { type Page, pageOf } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import { accountQuotas } from '../quotas/account-quotas.ts';
import type { OwnerRoom } from '../quotas/owner-room.ts';
import type { Team, TeamRole } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';

/** Manages teams. Callers are already authorized; this keeps the invariants. */
export class Teams {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #room: OwnerRoom;

  constructor(database: AccountDatabase, clock: Clock, random: Random, room: OwnerRoom) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#room = room;
  }

  async list(userId: string, page: PageRequest): Promise<Page<Team & { role: TeamRole }>> {
    const rows = await this.#database.teams.ofMember(userId, page);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.uuid]);
  }

  /** The creator becomes its owner and first admin. */
  async create(ownerId: string, name: string): Promise<Team> {
    const now = timestamp(this.#clock.now());
    const team: Team = { uuid: this.#random.uuid(), name, ownerId, createdAt: now, updatedAt: now };
    const assertRoom = await this.#room(accountQuotas.teams, ownerId);
    await this.#database.transact(async (stores) => {
      await stores.users.lock(ownerId);
      assertRoom(await stores.teams.countOwnedBy(ownerId));
      await stores.teams.insert(team);
      await stores.members.insert({ teamUuid: team.uuid, userId: ownerId, role: 'admin', createdAt: now });
    });
    return team;
  }

  async rename(uuid: string, name: string): Promise<Team> {
    await this.#database.teams.update(uuid, { name }, timestamp(this.#clock.now()));
    const team = await this.#database.teams.byUuid(uuid);
    if (team === undefined) throw accountErrors.TEAM_NOT_FOUND();
    return team;
  }

  /** Deletes its members and invitations; workspaces stay with their owners. */
  async delete(uuid: string): Promise<void> {
    await this.#database.teams.delete(uuid);
  }

  /** The new owner must be a member and becomes an admin; the old one stays an admin. */
  async transfer(uuid: string, fromUserId: string, toUserId: string): Promise<Team> {
    const now = timestamp(this.#clock.now());
    const assertRoom = await this.#room(accountQuotas.teams, toUserId);
    return this.#database.transact(async (stores) => {
      await stores.teams.lock(uuid);
      await stores.users.lock(toUserId);
      const team = await stores.teams.byUuid(uuid);
      if (team === undefined) throw accountErrors.TEAM_NOT_FOUND();
      // Recheck under the lock: of two concurrent transfers, only the first is by the owner.
      if (team.ownerId !== fromUserId) throw accountErrors.FORBIDDEN();
      if ((await stores.members.get(uuid, toUserId)) === undefined) throw accountErrors.MEMBER_NOT_FOUND();
      if (toUserId !== fromUserId) assertRoom(await stores.teams.countOwnedBy(toUserId));
      await stores.members.setRole(uuid, toUserId, 'admin');
      await stores.teams.update(uuid, { ownerId: toUserId }, now);
      return { ...team, ownerId: toUserId, updatedAt: now };
    });
  }
}
