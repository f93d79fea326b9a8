/**
 * Frees the memory of a chunk immediately if the chunk is all of its memory. V8 reclaims large buffers only in full
 * collections, and forces one for every 64 MB of them.
 */
export function freeChunk(chunk: Uint8Array): void {
  const { buffer } = chunk;
  const isAllOfIt = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength;
  if (isAllOfIt && !buffer.detached) buffer.transfer(0);
}

/** Returns a `release` for each of several holders; the last call frees the chunk. */
export function freeAfter(chunk: Uint8Array, holders: number): () => void {
  let left = holders;
  return () => {
    left -= 1;
    if (left === 0) freeChunk(chunk);
  };
}
