/**
 * Layout of a sealed blob: `version (1) | salt (32) | chunk …`. Each chunk is 64 KiB of content under AES-256-GCM
 * followed by its tag; the last one is shorter. Fixed chunk sizes allow seeking to a range without reading what
 * precedes it.
 */
export const SEALED_VERSION = 1;
export const SALT_BYTES = 32;
export const HEADER_BYTES = 1 + SALT_BYTES;
export const CHUNK_BYTES = 64 * 1024;
export const TAG_BYTES = 16;
export const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES;
const NONCE_BYTES = 12;

/** Number of chunks for a content size. Empty content has one chunk too, whose tag proves that nothing is missing. */
export function chunkCount(contentBytes: number): number {
  return Math.max(1, Math.ceil(contentBytes / CHUNK_BYTES));
}

/** Size of the sealed blob for a content size. */
export function sealedBytes(contentBytes: number): number {
  return HEADER_BYTES + contentBytes + TAG_BYTES * chunkCount(contentBytes);
}

/**
 * The nonce of a chunk: its index, and whether it is the last (the STREAM construction of Hoang, Reyhanitabar, Rogaway
 * and Vizár, 2015). Truncated, swapped or repeated chunks do not open. Every blob has its own key, so no nonce is
 * reused under one.
 */
export function chunkNonce(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(index), 0);
  nonce.writeUInt8(isLast ? 1 : 0, NONCE_BYTES - 1);
  return nonce;
}
