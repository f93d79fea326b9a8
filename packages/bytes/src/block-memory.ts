/** Room for one batch of a mux session, with its headers and control frames; twelve records of TLS. */
export const BLOCK_BYTES = 192 * 1024;
/** What waits for its next use, at most 16 MiB: what a stream over a slow link may have underway. */
const MAX_FREE = 85;
/** What was not needed for so long goes. */
const TRIM_MS = 5000;
/** Below this, memory of the right size is cheaper than a block; and a peer that reads nothing holds no block for a PING. */
const SMALL_BYTES = 16 * 1024;

/** Bytes in memory that may be used again: `release` is called once they are not needed, or never. */
export interface BorrowedBytes {
  bytes: Buffer;
  release: () => void;
}

const nothing = (): void => undefined;

/**
 * Blocks of memory for bulk, used again and again: memory outside of the heap is what V8 starts full collections for, one
 * for every few megabytes. Whoever passes bulk on may share one, so that each does not keep its own.
 */
export class BlockMemory {
  readonly #free: Buffer[] = [];
  /** The fewest that were free since the last trim: so many were needed by nobody. */
  #fewestFree = 0;
  #isTrimming = false;

  /** A block of `BLOCK_BYTES`. It comes back by `give`, once nothing reads it any more, or never. */
  take(): Buffer {
    return this.takeFree() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Null where it would take new memory. */
  takeFree(): Buffer | null {
    const block = this.#free.pop() ?? null;
    this.#fewestFree = Math.min(this.#fewestFree, this.#free.length);
    return block;
  }

  give(block: Buffer): void {
    if (this.#free.length >= MAX_FREE) return;
    this.#free.push(block);
    this.#trimLater();
  }

  /** The chunks as one piece of memory: TLS would put them together all the same, into memory of its own for each write. */
  gather(chunks: readonly Uint8Array[]): BorrowedBytes {
    const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (sizeBytes <= SMALL_BYTES || sizeBytes > BLOCK_BYTES) {
      return { bytes: Buffer.concat(chunks, sizeBytes), release: nothing };
    }
    const block = this.take();
    let offset = 0;
    for (const chunk of chunks) {
      block.set(chunk, offset);
      offset += chunk.length;
    }
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) this.give(block);
      isReleased = true;
    };
    return { bytes: block.subarray(0, sizeBytes), release };
  }

  #trimLater(): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    const trim = (): void => {
      this.#isTrimming = false;
      this.#free.splice(0, this.#fewestFree);
      this.#fewestFree = this.#free.length;
      if (this.#free.length > 0) this.#trimLater();
    };
    setTimeout(trim, TRIM_MS).unref(); // free memory holds no process
  }
}
