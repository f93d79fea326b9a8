/**
 * Buffers of parts, used again and again: new memory of 16 MiB costs as much as sending it. There are never more than
 * parts on their way at the same time, and those are limited.
 */
export class PartBuffers {
  readonly #free: Buffer[] = [];

  /** At least this large; the caller owns it until it gives it back. */
  take(sizeBytes: number): Buffer {
    const index = this.#free.findIndex((buffer) => buffer.length >= sizeBytes);
    const [found] = index === -1 ? [] : this.#free.splice(index, 1);
    return found ?? Buffer.allocUnsafeSlow(sizeBytes);
  }

  /** Only once nobody reads it any more. */
  giveBack(buffer: Buffer): void {
    this.#free.push(buffer);
  }
}
