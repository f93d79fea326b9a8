/** Room for one batch of the writer, with its headers and control frames. */
const BLOCK_BYTES = 192 * 1024;
/** What waits for its next use. */
const MAX_FREE = 12;
/** Below this, memory of the right size is cheaper than a block; and a peer that reads nothing holds no block for a PING. */
const SMALL_BYTES = 16 * 1024;

/** Bytes in memory that may be used again: `release` is called once they are not needed, or never. */
export interface BorrowedBytes {
  bytes: Buffer;
  release: () => void;
}

const nothing = (): void => undefined;

/** Memory of what is sent in bulk; sessions may share one, so that each does not keep its own. */
export class BatchMemory {
  readonly #free: Buffer[] = [];

  /**
   * The chunks as one piece of memory: TLS would put them together all the same, into memory that it allocates for each
   * write. Bulk goes through blocks that are used again, since memory outside of the heap is what full collections are
   * started for.
   */
  gather(chunks: readonly Uint8Array[]): BorrowedBytes {
    const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (sizeBytes <= SMALL_BYTES || sizeBytes > BLOCK_BYTES) {
      return { bytes: Buffer.concat(chunks, sizeBytes), release: nothing };
    }
    const block = this.#free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
    let offset = 0;
    for (const chunk of chunks) {
      block.set(chunk, offset);
      offset += chunk.length;
    }
    let isReleased = false;
    const release = (): void => {
      if (!isReleased && this.#free.length < MAX_FREE) this.#free.push(block);
      isReleased = true;
    };
    return { bytes: block.subarray(0, sizeBytes), release };
  }
}
