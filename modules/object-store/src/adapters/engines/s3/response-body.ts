import { freeChunk } from '@svc/bytes';

/** Holds the sealed chunks of 256 KiB of content, so that such a range arrives as one block. */
const BLOCK_BYTES = 260 * 1024;

/** The connection that a body arrives on. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Closes the connection, unless the body has already ended. */
  abort(reason: Error): void;
}

/**
 * The body of a response, gathered into blocks of 260 KiB: a network delivers it in pieces that are too small to pass
 * each of them on. Gathers one block ahead and then pauses the connection.
 */
export class ResponseBody {
  readonly #source: BodySource;
  readonly #silenceMs: number;
  /** Bytes of the body without an allocated block; infinite if the length is unknown. */
  #unallocatedBytes: number;
  #block: Buffer | null = null;
  #filledBytes = 0;
  #ready: Buffer | null = null;
  #taken: Buffer | null = null;
  #outcome: 'ended' | Error | null = null;
  #wake: (() => void) | null = null;

  /** `silenceMs` limits how long the consumer waits while nothing arrives. */
  constructor(source: BodySource, options: { lengthBytes: number | null; silenceMs: number }) {
    this.#source = source;
    this.#silenceMs = options.silenceMs;
    this.#unallocatedBytes = options.lengthBytes ?? Infinity;
  }

  /** The next block, which is valid until the next call; null at the end. Throws if the body is cut off or stalls. */
  async next(): Promise<Uint8Array | null> {
    this.#free();
    if (this.#ready === null && this.#outcome === null) await this.#arrival();
    const block = this.#ready ?? this.#lastBlock();
    if (block === null) {
      if (this.#outcome instanceof Error) throw this.#outcome;
      return null;
    }
    this.#ready = null;
    this.#taken = block;
    if (this.#outcome === null) this.#source.resume();
    return block;
  }

  /** Reads and forgets the rest. */
  async drain(): Promise<void> {
    while ((await this.next()) !== null);
  }

  /** Releases everything, and the connection too if the body has not ended. */
  destroy(): void {
    this.#free();
    this.#ready = null;
    this.#block = null;
    if (this.#outcome !== null) return;
    this.#outcome = new Error('the body was given up');
    this.#source.abort(this.#outcome);
    this.#wake?.();
  }

  /** Takes what arrived. */
  push(piece: Uint8Array): void {
    for (let start = 0; start < piece.length && this.#outcome === null;) {
      const block = (this.#block ??= this.#allocate(piece.length - start));
      const end = Math.min(piece.length, start + block.length - this.#filledBytes);
      block.set(piece.subarray(start, end), this.#filledBytes);
      this.#filledBytes += end - start;
      start = end;
      if (this.#filledBytes === block.length) this.#complete(block);
    }
    this.#wake?.();
  }

  /** Nothing more arrives. */
  end(outcome: 'ended' | Error): void {
    this.#outcome ??= outcome;
    this.#wake?.();
  }

  #allocate(atLeastBytes: number): Buffer {
    // A body that is longer than announced is the consumer's to notice.
    const size = this.#unallocatedBytes > 0 ? Math.min(BLOCK_BYTES, this.#unallocatedBytes) : atLeastBytes;
    this.#unallocatedBytes -= size;
    return Buffer.allocUnsafeSlow(size);
  }

  #complete(block: Buffer): void {
    // One piece can fill this block and also the last one, if the rest of the body is short.
    this.#ready = this.#ready === null ? block : Buffer.concat([this.#ready, block]);
    this.#block = null;
    this.#filledBytes = 0;
    if (this.#unallocatedBytes > 0) this.#source.pause(); // otherwise only the end follows, which frees the connection
  }

  /** What arrived before the end, less than a block. */
  #lastBlock(): Buffer | null {
    const block = this.#outcome === null || this.#filledBytes === 0 ? null : this.#block;
    this.#block = null;
    return block === null ? null : block.subarray(0, this.#filledBytes);
  }

  /** Resolves when a block is complete or nothing more arrives. */
  async #arrival(): Promise<void> {
    const silence = setTimeout(() => {
      this.#source.abort(new Error('the engine fell silent'));
      this.end(new Error('the engine fell silent'));
    }, this.#silenceMs);
    try {
      await new Promise<void>((resolve) => {
        this.#wake = () => {
          if (this.#ready !== null || this.#outcome !== null) resolve();
          else silence.refresh();
        };
      });
    } finally {
      this.#wake = null;
      clearTimeout(silence);
    }
  }

  #free(): void {
    if (this.#taken !== null) freeChunk(this.#taken);
    this.#taken = null;
  }
}
