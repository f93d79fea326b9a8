import type { Clock, Random } from '@svc/runtime';
import { authorizeTeam, type Caller } from '../authorize/authorize.ts';
import { timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import { type Page, pageOf } from '@svc/runtime';
import type { PageRequest } from '../paging.ts';
import { accountQuotas } from '../quotas/account-quotas.ts';
import type { OwnerRoom } from '../quotas/owner-room.ts';
import type { TeamRole, Workspace } from '../records.ts';
import type { AccountDatabase } from '../stores.ts';
import { newWorkspace } from '../users/create-person.ts';

export type WorkspaceView = Workspace & { teamRole: TeamRole | null };

export interface WorkspaceChange {
  name?: string | undefined;
  /** Null removes it from its team. */
  teamUuid?: string | null | undefined;
}

/** Workspaces, which own everything else. For deletion, see workspace-deletion.ts. */
export class Workspaces {
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

  /** Workspaces that the caller can access; with a team, that team's, for its members only. */
  async list(caller: Caller, page: PageRequest, teamUuid?: string): Promise<Page<WorkspaceView>> {
    if (caller.kind === 'service_account') return this.#listOnlyOne(caller);
    if (teamUuid !== undefined && (await this.#database.members.get(teamUuid, caller.id)) === undefined) {
      throw accountErrors.NOT_TEAM_MEMBER();
    }
    const rows = await this.#database.workspaces.visibleTo(caller.id, page, teamUuid);
    return pageOf(rows, page.limit, (last) => [last.createdAt, last.uuid]);
  }

  async get(uuid: string): Promise<Workspace> {
    const workspace = await this.#database.workspaces.byUuid(uuid);
    if (workspace === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
    return workspace;
  }

  async default(userId: string): Promise<Workspace | undefined> {
    return this.#database.workspaces.firstOwnedBy(userId);
  }

  async create(caller: Caller, name: string, teamUuid: string | null): Promise<Workspace> {
    if (teamUuid !== null) await authorizeTeam(this.#database, caller, 'team:add-workspace', teamUuid);
    const workspace = newWorkspace({ clock: this.#clock, random: this.#random }, caller.id, name, teamUuid);
    const assertRoom = await this.#room(accountQuotas.workspaces, caller.id);
    await this.#database.transact(async (stores) => {
      if (teamUuid !== null && !(await stores.teams.lock(teamUuid))) throw accountErrors.TEAM_NOT_FOUND();
      await stores.users.lock(caller.id);
      assertRoom(await stores.workspaces.countOwnedBy(caller.id));
      await stores.workspaces.insert(workspace);
    });
    return workspace;
  }

  /** To move a workspace, the caller must be its owner, which is already checked, and an admin of the target team. */
  async change(caller: Caller, uuid: string, { name, teamUuid }: WorkspaceChange): Promise<Workspace> {
    if (teamUuid !== undefined && teamUuid !== null) {
      await authorizeTeam(this.#database, caller, 'team:add-workspace', teamUuid);
    }
    const changes = { ...(name === undefined ? {} : { name }), ...(teamUuid === undefined ? {} : { teamUuid }) };
    await this.#database.transact(async (stores) => {
      if (typeof teamUuid === 'string' && !(await stores.teams.lock(teamUuid))) throw accountErrors.TEAM_NOT_FOUND();
      await stores.workspaces.update(uuid, changes, timestamp(this.#clock.now()));
    });
    return this.get(uuid);
  }

  /** Transfers it to another member of its team; the old owner keeps at least one workspace. */
  async transfer(uuid: string, fromUserId: string, toUserId: string): Promise<Workspace> {
    const now = timestamp(this.#clock.now());
    const assertRoom = await this.#room(accountQuotas.workspaces, toUserId);
    await this.#database.transact(async (stores) => {
      // In a fixed order, so that two opposite transfers cannot deadlock.
      for (const userId of [fromUserId, toUserId].toSorted()) await stores.users.lock(userId);
      await stores.workspaces.lock(uuid);
      const workspace = await stores.workspaces.byUuid(uuid);
      // Recheck under the lock: of two concurrent transfers, only the first is by the owner.
      if (workspace?.ownerId !== fromUserId) throw accountErrors.WORKSPACE_NOT_FOUND();
      if (workspace.teamUuid === null) throw accountErrors.WORKSPACE_WITHOUT_TEAM();
      if ((await stores.members.get(workspace.teamUuid, toUserId)) === undefined)
        throw accountErrors.MEMBER_NOT_FOUND();
      if (toUserId === fromUserId) return;
      if ((await stores.workspaces.countOwnedBy(fromUserId)) <= 1) throw accountErrors.LAST_WORKSPACE();
      assertRoom(await stores.workspaces.countOwnedBy(toUserId));
      await stores.workspaces.update(uuid, { ownerId: toUserId }, now);
    });
    return this.get(uuid);
  }

  async #listOnlyOne(caller: Caller): Promise<Page<WorkspaceView>> {
    const workspace =
      caller.workspaceUuid === undefined ? undefined : await this.#database.workspaces.byUuid(caller.workspaceUuid);
    return { items: workspace === undefined ? [] : [{ ...workspace, teamRole: null }], nextCursor: null };
  }
}
