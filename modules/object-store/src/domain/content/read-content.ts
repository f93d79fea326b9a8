import type { ContentKey } from '../encryption/content-key.ts';
import { openRange, openWhole } from '../encryption/content-opener.ts';
import { storeErrors } from '../../errors.ts';
import type { ReadRange } from '../ports/blob-store.ts';
import type { FoundObject } from '../ports/objects.ts';
import type { StoreDeps } from '../store-deps.ts';

/** Part rows read ahead of their bytes. */
const PARTS_AT_A_TIME = 256;

export type ReadingDeps = Pick<StoreDeps, 'metadata' | 'blobs' | 'readCache' | 'activeReads'>;

/**
 * Reads the bytes of an object, wherever they are stored. A chunk is valid until the next one is requested. `key` comes
 * from `services.encryption.open`; null for an unencrypted object.
 */
export async function* readContent(
  deps: ReadingDeps,
  found: FoundObject,
  range: ReadRange,
  key: ContentKey | null,
): AsyncGenerator<Uint8Array> {
  const { location, sizeBytes } = found.version;
  if (range.endExclusive <= range.start || location.kind === 'empty') return;
  if (location.kind === 'inline') {
    const content = inlineContent(found, key);
    if (content === null) throw storeErrors.DataLost();
    yield content.subarray(range.start, range.endExclusive);
    return;
  }
  assertKey(found, key);
  const leave = deps.activeReads.enter(location);
  try {
    if (location.kind === 'blob') yield* readBlob(deps, { blobId: location.blobId, sizeBytes, key }, range);
    else yield* readManifest(deps, location.manifestId, range, key);
  } finally {
    leave();
  }
}

/** The complete content of an inline object. Null for any other. */
export function inlineContent(found: FoundObject, key: ContentKey | null): Uint8Array | null {
  if (found.inline === null) return null;
  assertKey(found, key);
  return key === null ? found.inline : openWhole({ key, sizeBytes: found.version.sizeBytes }, found.inline);
}

async function* readManifest(
  deps: ReadingDeps,
  manifestId: string,
  range: ReadRange,
  key: ContentKey | null,
): AsyncGenerator<Uint8Array> {
  let position = range.start;
  while (position < range.endExclusive) {
    const rows = await deps.metadata.manifestParts({
      manifestId,
      start: position,
      endExclusive: range.endExclusive,
      limit: PARTS_AT_A_TIME,
    });
    if (rows.length === 0) return;
    for (const { blobId, blobOffset, startOffset, sizeBytes } of rows) {
      const endExclusive = Math.min(range.endExclusive, startOffset + sizeBytes);
      const inBlob = blobOffset - startOffset;
      const wanted = { start: position + inBlob, endExclusive: endExclusive + inBlob };
      yield* readBlob(deps, { blobId, sizeBytes, key }, wanted);
      position = endExclusive;
    }
  }
}

interface ReadBlob {
  readonly blobId: string;
  /** Size of the content. */
  readonly sizeBytes: number;
  readonly key: ContentKey | null;
}

function readBlob(deps: ReadingDeps, blob: ReadBlob, range: ReadRange): AsyncIterable<Uint8Array> {
  const { blobId, key } = blob;
  if (key?.isGuarded === true) return readStored(deps, blob, range);
  const cached = deps.readCache.find(blobId, range);
  if (cached !== null) return once(cached);
  return deps.readCache.keep(blobId, range, readStored(deps, blob, range));
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function readStored({ blobs }: ReadingDeps, blob: ReadBlob, range: ReadRange): AsyncIterable<Uint8Array> {
  const { blobId, sizeBytes, key } = blob;
  if (key === null) return blobs.read(blobId, range);
  return openRange({ key, sizeBytes }, range, (wanted) => blobs.read(blobId, wanted));
}

/** Guards against returning encrypted bytes as content if a caller did not open the key. */
function assertKey(found: FoundObject, key: ContentKey | null): void {
  if ((found.version.attributes.encryption !== undefined) === (key !== null)) return;
  throw storeErrors.InternalError({
    cause: new Error('content was read without its key, or with one it does not have'),
  });
}
