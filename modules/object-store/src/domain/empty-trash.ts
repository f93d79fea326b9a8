import type { StoreDeps } from './store-deps.ts';

const BATCH = 1_000;

/** Makes a workspace's trash due now, so that the janitor removes it. Returns how much that is. */
export async function emptyTrash(
  { metadata, clock }: Pick<StoreDeps, 'metadata' | 'clock'>,
  workspaceUuid: string,
): Promise<{ entries: number; bytes: number }> {
  const nowMs = clock.nowMs();
  const total = { entries: 0, bytes: 0 };
  for (;;) {
    const { entries, bytes } = await metadata.hastenTrash({ workspaceUuid, nowMs, limit: BATCH });
    total.entries += entries;
    total.bytes += bytes;
    if (entries < BATCH) return total;
  }
}
