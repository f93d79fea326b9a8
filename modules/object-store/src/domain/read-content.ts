import type { ReadRange } from '../ports/blob-store.ts';
import type { FoundObject } from '../ports/metadata-store.ts';
import type { StoreParts } from './store-parts.ts';

/** Part rows that are read ahead of their bytes. */
const PARTS_AT_A_TIME = 256;

/** The bytes of an object, wherever they are. A chunk is valid until the next one is asked for. */
export async function* readContent(
  parts: StoreParts,
  found: FoundObject,
  range: ReadRange,
): AsyncGenerator<Uint8Array> {
  const { location } = found.version;
  if (range.endExclusive <= range.start || location.kind === 'empty') return;
  if (location.kind === 'inline') {
    if (found.inline !== null) yield found.inline.subarray(range.start, range.endExclusive);
    return;
  }
  const leave = parts.activeReads.enter(location);
  try {
    if (location.kind === 'blob') yield* parts.blobs.read(location.blobId, range);
    else yield* readManifest(parts, location.manifestId, range);
  } finally {
    leave();
  }
}

async function* readManifest(
  { metadata, blobs }: StoreParts,
  manifestId: string,
  range: ReadRange,
): AsyncGenerator<Uint8Array> {
  let position = range.start;
  while (position < range.endExclusive) {
    const rows = await metadata.manifestParts({
      manifestId,
      start: position,
      endExclusive: range.endExclusive,
      limit: PARTS_AT_A_TIME,
    });
    if (rows.length === 0) return;
    for (const { blobId, startOffset, sizeBytes } of rows) {
      const endExclusive = Math.min(range.endExclusive, startOffset + sizeBytes);
      yield* blobs.read(blobId, { start: position - startOffset, endExclusive: endExclusive - startOffset });
      position = endExclusive;
    }
  }
}
