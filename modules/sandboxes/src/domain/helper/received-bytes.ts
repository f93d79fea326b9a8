/** What has arrived on a stream and is not taken yet; the stream's window bounds it. */
export class ReceivedBytes {
  readonly #chunks: Buffer[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(bytes: Buffer): void {
    // A copy: the frame's buffer belongs to the connection and is read on.
    this.#chunks.push(Buffer.from(bytes));
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Null after the last one. */
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
