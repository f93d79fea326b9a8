/** Runs one task at a time per key, in the order of the calls. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const tail = before.then(() => promise);
    this.#tails.set(key, tail);
    await before;
    try {
      return await work();
    } finally {
      resolve();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** Resolves when all tasks queued so far are done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}
