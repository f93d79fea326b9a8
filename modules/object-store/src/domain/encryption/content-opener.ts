import { freeChunk } from '@svc/bytes';
import { createDecipheriv, type KeyObject } from 'node:crypto';
import { storeErrors } from '../../errors.ts';
import type { ReadRange } from '../ports/blob-store.ts';
import type { ContentKey } from './content-key.ts';
import {
  chunkCount,
  CHUNK_BYTES,
  chunkNonce,
  HEADER_BYTES,
  SEALED_CHUNK_BYTES,
  SEALED_VERSION,
  sealedBytes,
  TAG_BYTES,
} from './sealed-layout.ts';

export interface SealedContent {
  key: ContentKey;
  /** Size of the content, not of the blob. */
  sizeBytes: number;
}

/** A range of so few chunks is yielded as one piece: each piece costs more steps on its way to the client than a copy. */
const CHUNKS_OF_SMALL_RANGE = 4;

/**
 * Opens a range of sealed content. `read` reads a range of the blob. Reads only the chunks that overlap the range, and
 * yields what is in a chunk only after verifying its tag. Throws `DataLost` if a chunk is damaged.
 */
export async function* openRange(
  content: SealedContent,
  range: ReadRange,
  read: (range: ReadRange) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { sizeBytes, key } = content;
  const firstChunk = Math.floor(range.start / CHUNK_BYTES);
  const endChunk = Math.min(chunkCount(sizeBytes), Math.ceil(range.endExclusive / CHUNK_BYTES));
  const stored = {
    start: firstChunk === 0 ? 0 : sealedOffset(firstChunk),
    endExclusive: endChunk === chunkCount(sizeBytes) ? sealedBytes(sizeBytes) : sealedOffset(endChunk),
  };
  const header = firstChunk === 0 ? null : await gather(read({ start: 0, endExclusive: HEADER_BYTES }), HEADER_BYTES);
  const pieces = new ExactPieces(read(stored));
  try {
    const blobKey = deriveKey(key, header ?? (await pieces.next(HEADER_BYTES)));
    const chunksAtOnce = endChunk - firstChunk <= CHUNKS_OF_SMALL_RANGE ? CHUNKS_OF_SMALL_RANGE : 1;
    for (let index = firstChunk; index < endChunk; index += chunksAtOnce) {
      const chunks = { index, endIndex: Math.min(endChunk, index + chunksAtOnce) };
      const opened = openChunks(blobKey, chunks, sizeBytes, await pieces.next(sealedLength(chunks, sizeBytes)));
      yield slice(opened, index, range);
      freeChunk(opened); // valid until the next one is requested
    }
  } finally {
    await pieces.close();
  }
}

/** Opens sealed content that is entirely in memory. */
export function openWhole(content: SealedContent, sealed: Uint8Array): Buffer {
  const { sizeBytes, key } = content;
  if (sealed.length !== sealedBytes(sizeBytes)) throw damaged();
  const blobKey = deriveKey(key, sealed.subarray(0, HEADER_BYTES));
  const chunks = { index: 0, endIndex: chunkCount(sizeBytes) };
  return openChunks(blobKey, chunks, sizeBytes, sealed.subarray(HEADER_BYTES));
}

interface Chunks {
  index: number;
  /** First chunk after them. */
  endIndex: number;
}

/** Opens consecutive chunks. `sealed` holds exactly their bytes. */
function openChunks(key: KeyObject, { index, endIndex }: Chunks, sizeBytes: number, sealed: Uint8Array): Buffer {
  if (endIndex - index === 1) return openChunk(key, index, sizeBytes, sealed);
  const opened = Buffer.allocUnsafeSlow(sealed.length - TAG_BYTES * (endIndex - index));
  for (let chunk = index; chunk < endIndex; chunk += 1) {
    const start = (chunk - index) * SEALED_CHUNK_BYTES;
    const end = start + sealedChunkBytes(chunk, sizeBytes);
    const content = openChunk(key, chunk, sizeBytes, sealed.subarray(start, end));
    opened.set(content, (chunk - index) * CHUNK_BYTES);
    freeChunk(content);
  }
  return opened;
}

function openChunk(key: KeyObject, index: number, sizeBytes: number, sealed: Uint8Array): Buffer {
  const isLast = index === chunkCount(sizeBytes) - 1;
  const decipher = createDecipheriv('aes-256-gcm', key, chunkNonce(index, isLast), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const content = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
  } catch (cause) {
    throw damaged(cause);
  }
  return content;
}

function slice(opened: Buffer, index: number, range: ReadRange): Buffer {
  const offset = index * CHUNK_BYTES;
  return opened.subarray(Math.max(0, range.start - offset), Math.min(opened.length, range.endExclusive - offset));
}

function deriveKey(key: ContentKey, header: Uint8Array): KeyObject {
  if (header[0] !== SEALED_VERSION) throw damaged();
  return key.blobKey(header.subarray(1));
}

function sealedOffset(index: number): number {
  return HEADER_BYTES + index * SEALED_CHUNK_BYTES;
}

function sealedChunkBytes(index: number, sizeBytes: number): number {
  return Math.min(CHUNK_BYTES, sizeBytes - index * CHUNK_BYTES) + TAG_BYTES;
}

function sealedLength({ index, endIndex }: Chunks, sizeBytes: number): number {
  return (endIndex - index - 1) * SEALED_CHUNK_BYTES + sealedChunkBytes(endIndex - 1, sizeBytes);
}

function damaged(cause?: unknown): Error {
  return storeErrors.DataLost(cause === undefined ? {} : { cause });
}

async function gather(source: AsyncIterable<Uint8Array>, lengthBytes: number): Promise<Uint8Array> {
  const pieces = new ExactPieces(source);
  try {
    return await pieces.next(lengthBytes);
  } finally {
    await pieces.close();
  }
}

/** Cuts a stream into pieces of given lengths. A piece is valid until the next one is requested. */
class ExactPieces {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async next(lengthBytes: number): Promise<Uint8Array> {
    if (this.#rest.length >= lengthBytes) return this.#take(lengthBytes);
    const piece = Buffer.allocUnsafe(lengthBytes);
    let filled = 0;
    while (filled < lengthBytes) {
      if (this.#rest.length === 0) await this.#refill();
      const part = this.#take(Math.min(this.#rest.length, lengthBytes - filled));
      piece.set(part, filled);
      filled += part.length;
    }
    return piece;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #take(lengthBytes: number): Uint8Array {
    const taken = this.#rest.subarray(0, lengthBytes);
    this.#rest = this.#rest.subarray(lengthBytes);
    return taken;
  }

  async #refill(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done === true) throw damaged();
    this.#rest = value;
  }
}
