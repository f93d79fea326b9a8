import { createSecretKey, type KeyObject } from 'node:crypto';
import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { openBytes, sealBytes } from '@svc/keys';
import { sandboxErrors } from '../../errors.ts';

/** Size of a piece before it is sealed; only the last one is shorter. */
const PIECE_BYTES = 1024 * 1024;
/** What sealing adds to a piece. */
const SEAL_BYTES = 12 + 16;
/** Fast: archives are written more often than read, and mostly to the same site. */
const LEVEL = 1;

export const ARCHIVE_KEY_BYTES = 32;

/** The most that an archive of this content takes (ZSTD_COMPRESSBOUND, and a seal for each piece). */
export function maxArchiveBytes(contentBytes: number): number {
  const compressedBytes = contentBytes + Math.ceil(contentBytes / 256) + 1024;
  return compressedBytes + SEAL_BYTES * (Math.ceil(compressedBytes / PIECE_BYTES) + 1);
}

export interface ArchiveKey {
  /** Binds each piece to its archive, so that pieces of different archives cannot be exchanged. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Compresses and seals a stream, whose chunks must not change afterwards. Holds no more than two pieces. */
export async function* encodeArchive(
  source: AsyncIterable<Uint8Array>,
  { id, bytes }: ArchiveKey,
  random: (sizeBytes: number) => Buffer,
): AsyncGenerator<Buffer> {
  const key = createSecretKey(bytes);
  const compressed = through(createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }), source);
  const reader = new PieceReader(compressed);
  try {
    let piece = await reader.upTo(PIECE_BYTES);
    for (let index = 0; ; index += 1) {
      const next = piece.length < PIECE_BYTES ? null : await reader.upTo(PIECE_BYTES);
      const isLast = next === null || next.length === 0;
      yield sealBytes(key, piece, contextOf(id, index, isLast), random);
      if (isLast) return;
      piece = next;
    }
  } finally {
    await reader.close();
  }
}

/** The content of an archive. Throws ARCHIVE_DAMAGED before it yields anything that was not sealed so. */
export function decodeArchive(source: AsyncIterable<Uint8Array>, key: ArchiveKey): AsyncIterable<Uint8Array> {
  return through(createZstdDecompress(), openPieces(source, key));
}

async function* openPieces(source: AsyncIterable<Uint8Array>, { id, bytes }: ArchiveKey): AsyncGenerator<Buffer> {
  const key: KeyObject = createSecretKey(bytes);
  const reader = new PieceReader(source);
  try {
    let piece = await reader.upTo(PIECE_BYTES + SEAL_BYTES);
    for (let index = 0; ; index += 1) {
      const next = piece.length < PIECE_BYTES + SEAL_BYTES ? null : await reader.upTo(PIECE_BYTES + SEAL_BYTES);
      const isLast = next === null || next.length === 0;
      const opened = openBytes(key, piece, contextOf(id, index, isLast));
      if (opened === null) throw sandboxErrors.ARCHIVE_DAMAGED();
      yield opened;
      if (isLast) return;
      piece = next;
    }
  } finally {
    await reader.close();
  }
}

/** A truncated, swapped or repeated piece does not open. */
function contextOf(id: string, index: number, isLast: boolean): string {
  return `sandbox-archive:${id}:${index}${isLast ? ':last' : ''}`;
}

/** The reader receives errors of all parts, and ends all of them by ending early. */
function through(transform: Transform, source: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  return pipeline(Readable.from(source, { objectMode: false }), transform, () => undefined);
}

/** Cuts a stream of chunks of any size into pieces, which it copies: a chunk may be reused once it is read. */
export class PieceReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** A piece of this length, or what is left. */
  async upTo(lengthBytes: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(lengthBytes);
    let filled = 0;
    while (filled < lengthBytes) {
      if (this.#rest.length === 0 && !(await this.#refill())) return piece.subarray(0, filled);
      const part = this.#rest.subarray(0, lengthBytes - filled);
      piece.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return piece;
  }

  /** A piece of exactly this length. Throws ARCHIVE_DAMAGED if there is less. */
  async exactly(lengthBytes: number): Promise<Buffer> {
    const piece = await this.upTo(lengthBytes);
    if (piece.length !== lengthBytes) throw sandboxErrors.ARCHIVE_DAMAGED();
    return piece;
  }

  /** Everything that is left, in chunks as the source has them. */
  async *rest(): AsyncGenerator<Uint8Array> {
    try {
      if (this.#rest.length > 0) yield this.#rest;
      while (await this.#refill()) yield this.#rest;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #refill(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    this.#rest = done === true ? new Uint8Array(0) : value;
    return done !== true;
  }
}
