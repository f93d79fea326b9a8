import type { Message } from './framing.ts';

/** One terminal read plus the framing's header. */
const BUFFER_BYTES = 64 * 1024 + 64;
/** Smaller messages get no pooled buffer: many small pending messages would hold more memory than they contain. */
const LEAST_BYTES = 16 * 1024;
const MOST_KEPT = 32;

/**
 * Reusable buffers for large messages, returned when the socket has taken them. The stream's window bounds the bytes in
 * flight of a terminal, and so the buffers it uses.
 */
export class SendBuffers {
  readonly #free: Buffer[] = [];

  take(sizeBytes: number): Buffer {
    if (sizeBytes < LEAST_BYTES || sizeBytes > BUFFER_BYTES) return Buffer.allocUnsafe(sizeBytes);
    return (this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)).subarray(0, sizeBytes);
  }

  /** Returns a sent message's buffer, which must not be used any more. Buffers from elsewhere are ignored. */
  give(message: Message): void {
    if (typeof message === 'string' || message.byteLength < LEAST_BYTES) return;
    const { buffer } = message;
    if (buffer.byteLength !== BUFFER_BYTES || this.#free.length >= MOST_KEPT) return;
    this.#free.push(Buffer.from(buffer));
  }
}
