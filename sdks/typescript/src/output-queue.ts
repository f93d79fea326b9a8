/** Receives output. The next chunk follows when the returned promise resolves. */
type Listener<Chunk> = (chunk: Chunk) => void | Promise<void>;

/** Delivers output in order; only consumed output is acknowledged. */
export class OutputQueue<Chunk extends { bytes: Uint8Array }> {
  #listener: Listener<Chunk> | null = null;
  readonly #waiting: Chunk[] = [];
  #draining: Promise<void> = Promise.resolve();
  readonly #taken: (bytes: number) => void;

  constructor(taken: (bytes: number) => void) {
    this.#taken = taken;
  }

  /** Delivers queued output first, at most the server's window. */
  listen(listener: Listener<Chunk>): void {
    this.#listener = listener;
    for (const chunk of this.#waiting.splice(0)) this.push(chunk);
  }

  /** Queues a chunk for the listener. */
  push(chunk: Chunk): void {
    const listener = this.#listener;
    if (listener === null) {
      this.#waiting.push(chunk);
      return;
    }
    this.#draining = this.#draining.then(async () => {
      await listener(chunk);
      this.#taken(chunk.bytes.length);
    });
    // Callers that await the end get the error.
    this.#draining.catch(() => undefined);
  }

  /** Resolves when all output is consumed; rejects with the listener's error. */
  drained(): Promise<void> {
    return this.#draining;
  }
}
