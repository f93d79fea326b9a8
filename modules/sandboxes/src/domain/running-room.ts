import type { QuotaLimits } from '@svc/quotas';
import { findShareRefusal } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';
import type { Boots } from './boots.ts';
import type { LiveSandboxes } from './live-sandboxes.ts';

export interface RunningRoomDeps {
  readonly live: Pick<LiveSandboxes, 'countHere'>;
  readonly boots: Pick<Boots, 'countHere'>;
  readonly quotaLimits: Pick<QuotaLimits, 'readLimits'>;
  /** Maximum number of sandboxes running on this node. */
  readonly maxRunning: number;
}

const HOLDERS = { key: 'owner', group: 'owner' };

/**
 * Room for running sandboxes on this node, those in connected clusters aside. Owners have shares, so that the next one
 * finds room: an owner starts another sandbox only while fewer of its own run than are free. An owner that is alone in
 * the installation may use all of the room.
 */
export class RunningRoom {
  readonly #deps: RunningRoomDeps;
  /** Starts that were admitted and have not begun, by workspace. */
  readonly #reserved = new Map<string, number>();

  constructor(deps: RunningRoomDeps) {
    this.#deps = deps;
  }

  /**
   * Reserves a place for a start. Call the returned function once, when it has begun or will not. Throws NO_CAPACITY: the
   * limit is per node, so a later attempt, or one on another node, may succeed.
   */
  async reserve(workspaceUuid: string): Promise<() => void> {
    const { quotaLimits, maxRunning: capacity } = this.#deps;
    const { ownerWorkspaces, isOnlyOwner = false } = await quotaLimits.readLimits(workspaceUuid);
    const all = this.#count(() => true);
    const owned = new Set(ownerWorkspaces).add(workspaceUuid);
    const group = isOnlyOwner ? 0 : this.#count((workspace) => owned.has(workspace));
    const refusal = findShareRefusal({ all, key: 0, group }, { capacity, holders: HOLDERS });
    if (refusal !== null) throw noRoom(refusal);
    this.#add(workspaceUuid, 1);
    return () => this.#add(workspaceUuid, -1);
  }

  #count(includes: (workspaceUuid: string) => boolean): number {
    const { live, boots } = this.#deps;
    let count = live.countHere(includes) + boots.countHere(includes);
    for (const [workspace, reserved] of this.#reserved) if (includes(workspace)) count += reserved;
    return count;
  }

  #add(workspaceUuid: string, change: number): void {
    const after = (this.#reserved.get(workspaceUuid) ?? 0) + change;
    if (after === 0) this.#reserved.delete(workspaceUuid);
    else this.#reserved.set(workspaceUuid, after);
  }
}

function noRoom({ holder, held, limit }: { holder: string; held: number; limit: number }): Error {
  const remedy = 'stop one, or ask the operator to raise sandboxes.max_running';
  const reason =
    holder === 'owner'
      ? `your workspaces run ${held} of at most ${limit} here, and the rest is kept for other owners; ${remedy}`
      : `${held} of at most ${limit} run here; ${remedy}`;
  return sandboxErrors.NO_CAPACITY({ details: { reason, holder, held, limit }, headers: { 'retry-after': '10' } });
}
