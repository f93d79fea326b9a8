import type { BlobId, ReadRange } from '../ports/blob-store.ts';

/** Of larger ranges, the way through the engine is a small share of the time. */
const MOST_BYTES_OF_A_RANGE = 1024 * 1024;
/** Blobs that are remembered as read once. */
const MOST_READ_ONCE = 10_000;

/** Consecutive bytes of a blob. */
interface Piece {
  readonly start: number;
  readonly bytes: Buffer;
}

/** What a cache holds, and the reads since the start that could be answered from it or not. */
export interface ReadCacheFigures {
  readonly sizeBytes: number;
  readonly hits: number;
  readonly misses: number;
}

/**
 * Content of blobs that is read again and again, decrypted. Blobs never change, and only a row leads to one, so nothing
 * here is out of date. A blob enters when it is read for the second time, so that reading everything once, as a backup
 * does, replaces nothing. The least recently read leave first.
 */
export class ReadCache {
  readonly #limitBytes: number;
  /** One piece of each blob, the least recently read first. */
  readonly #pieces = new Map<BlobId, Piece>();
  readonly #readOnce = new Set<BlobId>();
  #sizeBytes = 0;
  /** Of copies under way. */
  #unfinishedBytes = 0;
  #hits = 0;
  #misses = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Null if it has to be read from the engine. The caller does not change the bytes. */
  find(id: BlobId, { start, endExclusive }: ReadRange): Buffer | null {
    const piece = this.#pieces.get(id);
    if (piece === undefined || start < piece.start || endExclusive > piece.start + piece.bytes.length) return null;
    this.#hits += 1;
    this.#pieces.delete(id);
    this.#pieces.set(id, piece);
    return piece.bytes.subarray(start - piece.start, endExclusive - piece.start);
  }

  /** Passes on the content of a range, and keeps a copy if the blob was read before. */
  keep(id: BlobId, range: ReadRange, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const sizeBytes = range.endExclusive - range.start;
    if (sizeBytes > Math.min(MOST_BYTES_OF_A_RANGE, this.#limitBytes)) return chunks;
    this.#misses += 1;
    if (this.#readOnce.has(id)) return this.#copy(id, range, chunks);
    this.#readOnce.add(id);
    const [oldest] = this.#readOnce;
    if (this.#readOnce.size > MOST_READ_ONCE && oldest !== undefined) this.#readOnce.delete(oldest);
    return chunks;
  }

  figures(): ReadCacheFigures {
    return { sizeBytes: this.#sizeBytes, hits: this.#hits, misses: this.#misses };
  }

  async *#copy(id: BlobId, range: ReadRange, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { start, endExclusive } = range;
    const sizeBytes = endExclusive - start;
    // Slow clients would each hold a copy for as long as they read.
    if (this.#unfinishedBytes + sizeBytes > Math.max(MOST_BYTES_OF_A_RANGE, this.#limitBytes / 8)) {
      yield* chunks;
      return;
    }
    this.#unfinishedBytes += sizeBytes;
    try {
      const bytes = Buffer.allocUnsafeSlow(sizeBytes);
      let position = 0;
      for await (const chunk of chunks) {
        bytes.set(chunk.subarray(0, sizeBytes - position), position);
        position += chunk.length;
        if (position === sizeBytes) this.#add(id, { start, bytes }); // not every consumer asks for the end
        yield chunk;
      }
    } finally {
      this.#unfinishedBytes -= sizeBytes;
    }
  }

  #add(id: BlobId, piece: Piece): void {
    this.#forget(id);
    this.#pieces.set(id, piece);
    this.#sizeBytes += piece.bytes.length;
    for (const oldest of this.#pieces.keys()) {
      if (this.#sizeBytes <= this.#limitBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(id: BlobId): void {
    this.#sizeBytes -= this.#pieces.get(id)?.bytes.length ?? 0;
    this.#pieces.delete(id);
  }
}
