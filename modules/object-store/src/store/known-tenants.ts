import { RecentMap } from '@svc/runtime';

const MOST_KEPT = 16_384;

/** The workspaces of buckets, learned from every bucket that is found. A bucket never changes its workspace. */
export class KnownTenants {
  readonly #workspaces = new RecentMap<string>(MOST_KEPT);

  /** Remembers a bucket and returns it. */
  learn<Found>(found: Found): Found {
    const { id, workspaceUuid } = (found ?? {}) as { id?: unknown; workspaceUuid?: unknown }; // only inspected
    if (typeof id === 'number' && typeof workspaceUuid === 'string') this.#workspaces.set(String(id), workspaceUuid);
    return found;
  }

  /**
   * The tenant whose turn a command waits for. A bucket not seen before counts as its own tenant; other commands are
   * the platform's.
   */
  of(input: unknown): string {
    // only inspected
    const { workspaceUuid, bucketId } = (input ?? {}) as { workspaceUuid?: unknown; bucketId?: unknown };
    if (typeof workspaceUuid === 'string') return workspaceUuid;
    if (typeof bucketId !== 'number') return '';
    return this.#workspaces.get(String(bucketId)) ?? `bucket ${bucketId}`;
  }
}
