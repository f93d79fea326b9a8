/** A pool of reusable buffers of one size. Never blocks: allocates when none is idle and keeps at most `maxIdle`. */
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
