import type { OutputChunk } from './v1-connection.ts';

export type OutputListener = (chunk: OutputChunk) => void | Promise<void>;

/** Passes output on one after the other: what a listener has not taken yet is not acknowledged. */
export class OutputQueue {
  #listener: OutputListener | null = null;
  readonly #waiting: OutputChunk[] = [];
  #draining: Promise<void> = Promise.resolve();
  readonly #taken: (bytes: number) => void;

  constructor(taken: (bytes: number) => void) {
    this.#taken = taken;
  }

  /** What came before is passed on first. At most the server's window waits here. */
  listen(listener: OutputListener): void {
    this.#listener = listener;
    for (const chunk of this.#waiting.splice(0)) this.push(chunk);
  }

  push(chunk: OutputChunk): void {
    const listener = this.#listener;
    if (listener === null) {
      this.#waiting.push(chunk);
      return;
    }
    this.#draining = this.#draining.then(async () => {
      await listener(chunk);
      this.#taken(chunk.bytes.length);
    });
    // Whoever waits for the end hears of it; nobody else need.
    this.#draining.catch(() => undefined);
  }

  /** Resolves when everything that came was taken; rejects with what a listener threw. */
  drained(): Promise<void> {
    return this.#draining;
  }
}
