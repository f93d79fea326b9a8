/**
 * A sealed blob: `version (1) | salt (32) | chunk …`, each chunk 64 KiB of content under AES-256-GCM with its tag behind
 * it, the last one shorter. Chunks have a fixed size, so that a range is found without reading what is before it.
 */
export const SEALED_VERSION = 1;
export const SALT_BYTES = 32;
export const HEADER_BYTES = 1 + SALT_BYTES;
export const CHUNK_BYTES = 64 * 1024;
export const TAG_BYTES = 16;
export const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const NONCE_BYTES = 12;

/** How many chunks hold so many bytes. Nothing is one chunk too: its tag proves that nothing is missing. */
export function chunkCount(contentBytes: number): number {
  return Math.max(1, Math.ceil(contentBytes / CHUNK_BYTES));
}

/** The length of a blob that holds so many bytes of content. */
export function sealedBytes(contentBytes: number): number {
  return HEADER_BYTES + contentBytes + TAG_BYTES * chunkCount(contentBytes);
}

/**
 * The nonce of one chunk: its number, and whether it is the last (the STREAM construction of Hoang, Reyhanitabar, Rogaway
 * and Vizár, 2015). Chunks that were cut off, swapped or repeated do not open. Every blob has a key of its own, so no
 * nonce is ever used twice under one.
 */
export function chunkNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(index), 0);
  nonce.writeUInt8(isLast ? 1 : 0, NONCE_BYTES - 1);
  return nonce;
}
