/** Buffers of one size that are used again. Never blocks: what is not idle is made, and only `maxIdle` are kept. */
export class BufferPool {
  readonly sizeBytes: number;
  readonly #idle: Buffer[] = [];
  readonly #maxIdle: number;

  constructor(sizeBytes: number, maxIdle: number) {
    this.sizeBytes = sizeBytes;
    this.#maxIdle = maxIdle;
  }

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.sizeBytes);
  }

  give(buffer: Buffer): void {
    if (this.#idle.length < this.#maxIdle) this.#idle.push(buffer);
  }
}
