import { type Effects, secondsAfter, timestamp } from '../effects.ts';
import { accountErrors } from '../../errors.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';

/**
 * Port to whatever lives in a workspace: answers what is still there in words, such as `2 buckets`; empty means it may
 * go. apps/platform asks the other modules.
 */
export type WorkspaceHoldings = (workspaceUuid: string) => Promise<readonly string[]>;

/** A deletion that was begun this long ago was cut off by the end of its process. */
const STUCK_AFTER_SECONDS = 600;

/**
 * Deletes workspaces that are empty. Nobody is let in from the moment it begins, so nothing new comes in behind the
 * look inside; where something is left, the door opens again.
 */
export class WorkspaceDeletion {
  readonly #database: AccountDatabase;
  readonly #effects: Effects;
  readonly #holdings: WorkspaceHoldings;

  constructor(database: AccountDatabase, effects: Effects, holdings: WorkspaceHoldings) {
    this.#database = database;
    this.#effects = effects;
    this.#holdings = holdings;
  }

  async delete(uuid: string): Promise<void> {
    await this.#begin(uuid);
    const holdings = await this.#finish(uuid);
    if (holdings.length === 0) return;
    throw accountErrors.WORKSPACE_NOT_EMPTY({ details: { holdings: holdings.join(', '), workspace_uuid: uuid } });
  }

  /** Ends what an ended process began. Answers how many it looked at. */
  async finishStuck(limit: number): Promise<number> {
    const before = timestamp(secondsAfter(this.#effects.now(), -STUCK_AFTER_SECONDS));
    const stuck = await this.#database.workspaces.stuckDeletions(before, limit);
    for (const { uuid } of stuck) await this.#finish(uuid);
    return stuck.length;
  }

  /** Expired guests with their workspaces, as far as those are empty by now; the others come again later. */
  async removeExpiredGuests(limit: number): Promise<number> {
    const now = timestamp(this.#effects.now());
    let removed = 0;
    for (const guest of await this.#database.users.expiredGuests(now, limit)) {
      const workspace = await this.#database.workspaces.firstOwnedBy(guest.id);
      if (workspace !== undefined && (await this.#holdings(workspace.uuid)).length > 0) {
        await this.#database.users.update(guest.id, {}, now);
        continue;
      }
      await this.#database.transact(async (stores) => {
        if (workspace !== undefined) await removeWorkspace(stores, workspace.uuid);
        await stores.quotaOverrides.deleteOfSubject('owner', guest.id);
        await stores.users.delete(guest.id);
      });
      removed += 1;
    }
    return removed;
  }

  async #begin(uuid: string): Promise<void> {
    const now = timestamp(this.#effects.now());
    await this.#database.transact(async (stores) => {
      // Locks are taken in one order everywhere: team, user, workspace.
      const seen = await stores.workspaces.byUuid(uuid);
      if (seen === undefined) throw accountErrors.WORKSPACE_NOT_FOUND();
      await stores.users.lock(seen.ownerId);
      await stores.workspaces.lock(uuid);
      const workspace = await stores.workspaces.byUuid(uuid);
      if (workspace?.ownerId !== seen.ownerId || workspace.deletingSince !== null) {
        throw accountErrors.WORKSPACE_NOT_FOUND();
      }
      if ((await stores.workspaces.countOwnedBy(workspace.ownerId)) <= 1) throw accountErrors.LAST_WORKSPACE();
      await stores.workspaces.update(uuid, { deletingSince: now }, now);
    });
  }

  async #finish(uuid: string): Promise<readonly string[]> {
    let holdings: readonly string[];
    try {
      holdings = await this.#holdings(uuid);
    } catch (error) {
      await this.#reopen(uuid);
      throw error;
    }
    if (holdings.length === 0) await this.#database.transact((stores) => removeWorkspace(stores, uuid));
    else await this.#reopen(uuid);
    return holdings;
  }

  async #reopen(uuid: string): Promise<void> {
    await this.#database.workspaces.update(uuid, { deletingSince: null }, timestamp(this.#effects.now()));
  }
}

async function removeWorkspace(stores: AccountStores, uuid: string): Promise<void> {
  await stores.quotaOverrides.deleteOfSubject('workspace', uuid);
  await stores.workspaces.delete(uuid);
}
