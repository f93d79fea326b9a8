/** A slice that is this much smaller than the memory it keeps alive is copied. */
const KEPT_SHARE = 4;
/** Small pieces are gathered in blocks of this size: a queue of a million bytes is never a million objects. */
const BLOCK_BYTES = 16 * 1024;
const SMALL_BYTES = 2 * 1024;

/**
 * Bytes that have arrived and that nobody has asked for. What it holds in memory is near what it holds in bytes, however
 * the other side cuts its frames.
 */
export class ReceiveQueue {
  #chunks: Buffer[] = [];
  #first = 0;
  /** The last chunk, when it is a block with room: `#used` bytes of it are taken. */
  #block: Buffer | null = null;
  #used = 0;
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  push(slice: Buffer): void {
    this.#sizeBytes += slice.length;
    if (slice.length > SMALL_BYTES) {
      this.#closeBlock();
      this.#chunks.push(detached(slice));
      return;
    }
    if (this.#block !== null && this.#used + slice.length > this.#block.length) this.#closeBlock();
    this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used += slice.copy(this.#block, this.#used);
  }

  shift(): Buffer | undefined {
    if (this.#first === this.#chunks.length) this.#closeBlock();
    const chunk = this.#chunks[this.#first];
    if (chunk === undefined) return undefined;
    this.#first += 1;
    if (this.#first === this.#chunks.length) {
      this.#chunks = [];
      this.#first = 0;
    }
    this.#sizeBytes -= chunk.length;
    return chunk;
  }

  clear(): void {
    this.#chunks = [];
    this.#first = 0;
    this.#block = null;
    this.#used = 0;
    this.#sizeBytes = 0;
  }

  #closeBlock(): void {
    if (this.#block !== null && this.#used > 0) this.#chunks.push(detached(this.#block.subarray(0, this.#used)));
    this.#block = null;
    this.#used = 0;
  }
}

/** The slice itself where it is most of its memory, else a copy: a byte must not keep a whole network chunk alive. */
export function detached(slice: Buffer): Buffer {
  return slice.length * KEPT_SHARE < slice.buffer.byteLength ? Buffer.from(slice) : slice;
}
