import { BLOCK_BYTES, type BlockMemory } from '@svc/bytes';

/**
 * Small pieces are gathered in buffers of this size, so that a queue of a million bytes is never a million objects.
 */
const GATHERED_BYTES = 16 * 1024;
const SMALL_BYTES = 2 * 1024;
/** A chunk that fills less than this fraction of its buffer is copied out of it. */
const KEPT_SHARE = 4;
/** With this much queued before it, a block adds little to the memory in use. */
const BLOCK_WORTHY_BYTES = BLOCK_BYTES / 2;

/** Holds copies of unread bytes. Its memory stays close to its byte count, however the peer splits its frames. */
export class ReceiveQueue {
  #chunks: Buffer[] = [];
  #first = 0;
  /** Buffer for the next bytes; `#used` of them are taken. */
  #tail: Buffer | null = null;
  #used = 0;
  #sizeBytes = 0;
  #memory: BlockMemory | null = null;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** From now on every chunk is returned by `release`, so that bulk data can use reusable blocks. */
  borrowFrom(memory: BlockMemory): void {
    this.#memory = memory;
  }

  push(slice: Buffer): void {
    let rest = slice;
    while (rest.length > 0) {
      if (this.#tail === null && !this.#openTail(rest.length)) {
        this.#chunks.push(Buffer.from(rest));
        break;
      }
      rest = this.#fillTail(rest);
    }
    this.#sizeBytes += slice.length;
  }

  shift(): Buffer | undefined {
    if (this.#first === this.#chunks.length) this.#closeTail();
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

  /** Returns the memory of a chunk that is no longer used. */
  release(chunk: Buffer): void {
    if (chunk.buffer.byteLength === BLOCK_BYTES) this.#memory?.give(Buffer.from(chunk.buffer));
  }

  clear(): void {
    this.#chunks = [];
    this.#first = 0;
    this.#tail = null;
    this.#used = 0;
    this.#sizeBytes = 0;
  }

  /** Returns false if this many bytes are better kept separately. */
  #openTail(lengthBytes: number): boolean {
    if (lengthBytes <= SMALL_BYTES && this.#sizeBytes < BLOCK_WORTHY_BYTES) {
      this.#tail = Buffer.allocUnsafeSlow(GATHERED_BYTES);
    } else if (this.#memory !== null) {
      // A free block costs nothing more; allocate a new one only where it adds little.
      this.#tail = this.#sizeBytes < BLOCK_WORTHY_BYTES ? this.#memory.takeFree() : this.#memory.take();
    }
    return this.#tail !== null;
  }

  #fillTail(bytes: Buffer): Buffer {
    const tail = this.#tail;
    if (tail === null) return bytes;
    // Anything that does not fit into a gathering buffer is large and gets its own memory.
    const fits = bytes.length <= tail.length - this.#used;
    const copied = fits || tail.length === BLOCK_BYTES ? bytes.copy(tail, this.#used) : 0;
    this.#used += copied;
    if (!fits || this.#used === tail.length) this.#closeTail();
    return bytes.subarray(copied);
  }

  #closeTail(): void {
    const tail = this.#tail;
    if (tail !== null && this.#used > 0) {
      const bytes = tail.subarray(0, this.#used);
      const isWorthIt = tail.length === BLOCK_BYTES || bytes.length * KEPT_SHARE >= tail.length;
      this.#chunks.push(isWorthIt ? bytes : Buffer.from(bytes));
    }
    this.#tail = null;
    this.#used = 0;
  }
}
