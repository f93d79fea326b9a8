import type { DigestName, DigestResults } from './checksums/algorithms.ts';
import type { ContentKey } from './encryption/content-key.ts';
import { createBodyHasher } from './checksums/body-hasher.ts';
import { storeErrors } from '../errors.ts';
import type { ReadRange } from './ports/blob-store.ts';
import type { FoundObject } from './ports/objects.ts';
import { readContent } from './read-content.ts';
import type { StoreDeps } from './store-deps.ts';

export interface StoredContent {
  source: FoundObject;
  sourceKey: ContentKey | null;
  range: ReadRange;
}

export interface ContentToDigest extends StoredContent {
  /** Workspace whose turns the hashing takes. */
  workspaceUuid: string;
}

/** Computes digests of stored bytes that are not known yet. Reads the bytes, but does not rewrite them. */
export async function digestContent(
  deps: StoreDeps,
  { source, sourceKey, range, workspaceUuid }: ContentToDigest,
  names: ReadonlySet<DigestName>,
): Promise<DigestResults> {
  const sizeBytes = range.endExclusive - range.start;
  await deps.hashing.kernels.prepare(names);
  const hasher = createBodyHasher(deps.hashing, names, sizeBytes, workspaceUuid);
  let seen = 0;
  try {
    for await (const chunk of readContent(deps, source, range, sourceKey)) {
      seen += chunk.length;
      await hasher.update(Buffer.from(chunk)); // copied, since the chunk's memory is reused and hashing is asynchronous
    }
    if (seen !== sizeBytes) throw storeErrors.DataLost();
    return await hasher.finish();
  } catch (error) {
    hasher.cancel();
    throw error;
  }
}
