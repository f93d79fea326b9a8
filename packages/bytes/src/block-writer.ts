import type { Writable } from 'node:stream';
import { BLOCK_BYTES, type BlockMemory } from './block-memory.ts';

/** Smaller writes are not worth a block or a wait for more. */
const SMALL_BYTES = 4 * 1024;
/** Full blocks queued behind the one being written; at this number the writer asks to pause. */
const MAX_WAITING = 2;

/**
 * Writes borrowed bytes, which are valid only during the call: copies them into reusable blocks and passes these on one
 * at a time, because TLS joins concurrent writes in newly allocated memory. A block is written when it is full, or when
 * the event loop has read everything available and the previous block is done.
 */
export class BlockWriter {
  readonly #target: Writable;
  readonly #memory: BlockMemory;
  readonly #onRoom: () => void;
  #block: Buffer | null = null;
  #usedBytes = 0;
  #waiting: Buffer[] = [];
  #isWriting = false;
  #isScheduled = false;
  #isHeldBack = false;
  #onFlushed: (() => void) | null = null;

  /** `onRoom` is called when writing may continue after `write` returned false. */
  constructor(target: Writable, memory: BlockMemory, onRoom: () => void) {
    this.#target = target;
    this.#memory = memory;
    this.#onRoom = onRoom;
  }

  /** Always accepts the bytes. Returns false to pause until `onRoom`. */
  write(bytes: Uint8Array): boolean {
    if (this.#target.destroyed) return true; // the target is gone
    if (this.#block === null && !this.#isWriting && bytes.length <= SMALL_BYTES) {
      this.#send(Buffer.from(bytes), null);
      return true;
    }
    let offset = 0;
    while (offset < bytes.length) {
      this.#block ??= this.#memory.take();
      const part = bytes.subarray(offset, offset + BLOCK_BYTES - this.#usedBytes);
      this.#block.set(part, this.#usedBytes);
      this.#usedBytes += part.length;
      offset += part.length;
      if (this.#usedBytes === BLOCK_BYTES) this.#blockIsFull(this.#block);
    }
    this.#schedule();
    this.#isHeldBack = this.#waiting.length >= MAX_WAITING;
    return !this.#isHeldBack;
  }

  /** Calls `done` once everything was passed on, so that later writes to the target follow it. */
  flush(done: () => void): void {
    this.#onFlushed = done;
    if (!this.#isWriting) this.#next();
  }

  #blockIsFull(block: Buffer): void {
    this.#block = null;
    this.#usedBytes = 0;
    if (this.#isWriting) this.#waiting.push(block);
    else this.#send(block, block);
  }

  #send(bytes: Buffer, block: Buffer | null): void {
    this.#isWriting = true;
    this.#target.write(bytes, (error) => {
      this.#isWriting = false;
      if (error !== null && error !== undefined) return; // the target failed and may still hold the block
      if (block !== null) this.#memory.give(block);
      this.#next();
    });
  }

  #next(): void {
    const full = this.#waiting.shift();
    if (full !== undefined) this.#send(full, full);
    else this.#sendGathered();
    if (this.#onFlushed !== null && this.#waiting.length === 0 && this.#block === null) {
      const done = this.#onFlushed;
      this.#onFlushed = null;
      done();
    }
    if (!this.#isHeldBack || this.#waiting.length >= MAX_WAITING) return;
    this.#isHeldBack = false;
    this.#onRoom();
  }

  #sendGathered(): void {
    const block = this.#block;
    if (block === null) return;
    const bytes = block.subarray(0, this.#usedBytes);
    this.#block = null;
    this.#usedBytes = 0;
    this.#send(bytes, block);
  }

  /** Waits for everything that this turn of the event loop reads; a full block is written sooner. */
  #schedule(): void {
    if (this.#isScheduled || this.#isWriting || this.#block === null) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isWriting) this.#sendGathered();
    });
  }
}
