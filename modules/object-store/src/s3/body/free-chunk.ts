/**
 * Frees the memory of a received chunk immediately. The HTTP parser of Node allocates a new buffer for each chunk, and
 * V8 reclaims these only in full collections; a stream would force one for every 26 MB.
 */
export function freeChunk(chunk: Buffer): void {
  const { buffer } = chunk;
  const isAllOfIt = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength;
  if (isAllOfIt && !buffer.detached) buffer.transfer(0);
}
