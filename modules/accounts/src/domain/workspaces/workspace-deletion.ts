import type { Clock } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import { accountErrors } from '../../errors.ts';
import type { AccountDatabase, AccountStores } from '../stores.ts';

/**
 * Port to the contents of a workspace: describes what is left, such as `2 buckets`; empty if it may be deleted.
 * apps/platform asks the other modules.
 */
export type WorkspaceHoldings = (workspaceUuid: string) => Promise<readonly string[]>;

/** A deletion that began this long ago was interrupted when its process ended. */
const STUCK_AFTER_SECONDS = 600;

/**
 * Deletes empty workspaces. Access is blocked from the start, so nothing new can arrive after the check; if the
 * workspace is not empty, access is restored.
 */
export class WorkspaceDeletion {
  readonly #database: AccountDatabase;
  readonly #clock: Clock;
  readonly #holdings: WorkspaceHoldings;

  constructor(database: AccountDatabase, clock: Clock, holdings: WorkspaceHoldings) {
    this.#database = database;
    this.#clock = clock;
    this.#holdings = holdings;
  }

  async delete(uuid: string): Promise<void> {
    await this.#begin(uuid);
    const holdings = await this.#finish(uuid);
    if (holdings.length === 0) return;
    throw accountErrors.WORKSPACE_NOT_EMPTY({ details: { holdings: holdings.join(', '), workspace_uuid: uuid } });
  }

  /** Finishes deletions that ended processes began. Returns the number checked. */
  async finishStuck(limit: number): Promise<number> {
    const before = timestamp(secondsAfter(this.#clock.now(), -STUCK_AFTER_SECONDS));
    const stuck = await this.#database.workspaces.stuckDeletions(before, limit);
    for (const { uuid } of stuck) await this.#finish(uuid);
    return stuck.length;
  }

  /** Removes expired guests whose workspaces are empty by now; the others are retried later. */
  async removeExpiredGuests(limit: number): Promise<number> {
    const now = timestamp(this.#clock.now());
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
    const now = timestamp(this.#clock.now());
    await this.#database.transact(async (stores) => {
      // Locks are always taken in this order: team, user, workspace.
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
    await this.#database.workspaces.update(uuid, { deletingSince: null }, timestamp(this.#clock.now()));
  }
}

async function removeWorkspace(stores: AccountStores, uuid: string): Promise<void> {
  await stores.quotaOverrides.deleteOfSubject('workspace', uuid);
  await stores.workspaces.delete(uuid);
}
