/** Holds one batch of a mux session with its headers and control frames, or twelve TLS records. */
export const BLOCK_BYTES = 192 * 1024;
/** Maximum number of free blocks, 16 MiB in total: what a stream over a slow link may have in flight. */
const MAX_FREE = 85;
/** Blocks unused for this long are freed. */
const TRIM_MS = 5000;
/**
 * Below this size, exact allocations are cheaper than a block, and a peer that reads nothing holds no block for a PING.
 */
const SMALL_BYTES = 16 * 1024;

/** Bytes in reusable memory. Call `release` when they are no longer needed, or never. */
export interface BorrowedBytes {
  bytes: Buffer;
  release: () => void;
}

const nothing = (): void => undefined;

/**
 * Reusable memory blocks for bulk data: V8 starts a full collection for every few megabytes of off-heap allocations.
 * Share one instance among everything that relays bulk data.
 */
export class BlockMemory {
  readonly #free: Buffer[] = [];
  /** The fewest free blocks since the last trim, so that many were not needed. */
  #fewestFree = 0;
  #isTrimming = false;

  /** Returns a block of `BLOCK_BYTES`. Return it with `give` once unused, or never. */
  take(): Buffer {
    return this.takeFree() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Returns null instead of allocating a new block. */
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

  /** Joins the chunks into one buffer. TLS would join them anyway, in newly allocated memory for each write. */
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
    setTimeout(trim, TRIM_MS).unref(); // free memory must not keep the process alive
  }
}
