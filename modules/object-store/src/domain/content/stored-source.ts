import { freeAfter } from '@svc/bytes';
import { storeErrors } from '../../errors.ts';
import type { DigestName, DigestResults } from '../checksums/algorithms.ts';
import { createBodyHasher } from '../checksums/body-hasher.ts';
import type { ContentKey } from '../encryption/content-key.ts';
import type { ReadRange } from '../ports/blob-store.ts';
import type { FoundObject } from '../ports/objects.ts';
import type { StoreDeps } from '../store-deps.ts';
import type { ContentSource } from './content-source.ts';
import { readContent, type ReadingDeps } from './read-content.ts';

/** A range of an object's bytes. */
export interface StoredRange {
  source: FoundObject;
  sourceKey: ContentKey | null;
  range: ReadRange;
}

/** Bytes that the store holds already, to rewrite them in another way or place. */
export function createStoredSource(deps: ReadingDeps, { source, sourceKey, range }: StoredRange): ContentSource {
  const sizeBytes = range.endExclusive - range.start;
  return {
    sizeBytes,
    pump: async (consume) => {
      let seen = 0;
      for await (const chunk of readContent(deps, source, range, sourceKey)) {
        seen += chunk.length;
        // Copy each chunk: its memory is reused while hashing and writing are still in progress.
        const copy = Buffer.from(chunk);
        await consume(copy, freeAfter(copy, 1));
      }
      if (seen !== sizeBytes) throw storeErrors.DataLost();
    },
  };
}

/**
 * Computes digests of stored bytes that are not known yet. Reads the bytes, but does not rewrite them. Hashing takes the
 * turns of the workspace.
 */
export async function digestStored(
  deps: StoreDeps,
  stored: StoredRange & { workspaceUuid: string },
  names: ReadonlySet<DigestName>,
): Promise<DigestResults> {
  const source = createStoredSource(deps, stored);
  await deps.hashing.kernels.prepare(names);
  const hasher = createBodyHasher(deps.hashing, names, source.sizeBytes, stored.workspaceUuid);
  try {
    await source.pump((chunk, release) => hasher.update(chunk, release));
    return await hasher.finish();
  } catch (error) {
    hasher.cancel();
    throw error;
  }
}
