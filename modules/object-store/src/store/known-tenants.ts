import { RecentMap } from '@svc/runtime';

const MOST_KEPT = 16_384;

/** The workspaces of buckets, learnt from every bucket that was found: a bucket never changes its workspace. */
export class KnownTenants {
  readonly #workspaces = new RecentMap<string>(MOST_KEPT);

  /** Remembers a bucket and returns it. */
  learn<Found>(found: Found): Found {
    const { id, workspaceUuid } = (found ?? {}) as { id?: unknown; workspaceUuid?: unknown }; // only looked at
    if (typeof id === 'number' && typeof workspaceUuid === 'string') this.#workspaces.set(String(id), workspaceUuid);
    return found;
  }

  /** Whose turn a command waits for. A bucket that was not found before stands for itself; the rest is the platform's. */
  of(input: unknown): string {
    const { workspaceUuid, bucketId } = (input ?? {}) as { workspaceUuid?: unknown; bucketId?: unknown }; // likewise
    if (typeof workspaceUuid === 'string') return workspaceUuid;
    if (typeof bucketId !== 'number') return '';
    return this.#workspaces.get(String(bucketId)) ?? `bucket ${bucketId}`;
  }
}
