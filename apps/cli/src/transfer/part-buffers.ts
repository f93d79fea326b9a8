/**
 * Reuses part buffers, since allocating 16 MiB costs as much as sending it. The limit on concurrent parts bounds their
 * number.
 */
export class PartBuffers {
  readonly #free: Buffer[] = [];

  /** Returns a buffer of at least this size, which the caller owns until `release`. */
  take(sizeBytes: number): Buffer {
    const index = this.#free.findIndex((buffer) => buffer.length >= sizeBytes);
    const [found] = index === -1 ? [] : this.#free.splice(index, 1);
    return found ?? Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** Returns a buffer to the pool; nothing may read it any more. */
  release(buffer: Buffer): void {
    this.#free.push(buffer);
  }
}
