/** Bytes that have arrived on a stream and are not taken yet. The stream's window bounds them. */
export class ReceivedBytes {
  readonly #chunks: Buffer[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(bytes: Buffer): void {
    // Copied, because the connection reuses the frame's buffer.
    this.#chunks.push(Buffer.from(bytes));
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Resolves to the next chunk, or null after the last one. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) return chunk;
      if (this.#ended) return null;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = null;
    }
  }
}
