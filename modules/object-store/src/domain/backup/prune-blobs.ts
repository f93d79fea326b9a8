import type { BlobStore } from '../ports/blob-store.ts';
import type { MetadataQueries } from '../ports/metadata-store.ts';

/** Removes blobs that none of the kept snapshots needs. Returns the number removed. */
export async function pruneBlobs(
  target: BlobStore,
  kept: readonly Pick<MetadataQueries, 'isContentNeeded'>[],
): Promise<number> {
  let removed = 0;
  for await (const { id } of target.list()) {
    let needed = false;
    for (const snapshot of kept) {
      needed ||= await snapshot.isContentNeeded({ kind: 'blob', contentId: id });
    }
    if (needed) continue;
    await target.remove(id);
    removed += 1;
  }
  return removed;
}
