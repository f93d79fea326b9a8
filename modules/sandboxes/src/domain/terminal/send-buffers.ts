import type { Message } from './framing.ts';

/** A read of a terminal, and what a framing puts before it. */
const BUFFER_BYTES = 64 * 1024 + 64;
/** Less is not worth a buffer of its own: many small messages that wait would hold more than they weigh. */
const LEAST_BYTES = 16 * 1024;
const MOST_KEPT = 32;

/**
 * Buffers for large messages, which are used again when the socket has taken them. What a terminal may have on its way is
 * bounded by its stream's window, and so is what it takes of these.
 */
export class SendBuffers {
  readonly #free: Buffer[] = [];

  take(sizeBytes: number): Buffer {
    if (sizeBytes < LEAST_BYTES || sizeBytes > BUFFER_BYTES) return Buffer.allocUnsafe(sizeBytes);
    return (this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)).subarray(0, sizeBytes);
  }

  /** The message has left: nobody may look at it any more. What was not taken here is let go. */
  give(message: Message): void {
    if (typeof message === 'string' || message.byteLength < LEAST_BYTES) return;
    const { buffer } = message;
    if (buffer.byteLength !== BUFFER_BYTES || this.#free.length >= MOST_KEPT) return;
    this.#free.push(Buffer.from(buffer));
  }
}
