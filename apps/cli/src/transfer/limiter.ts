/** At most so many at the same time; the others wait in their order. */
export class Limiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Up to here a body is small: it costs a round trip more than it costs bytes, and more of them may be on their way. */
export const SMALL_BYTES = 1024 * 1024;
const SMALL_FOR_EACH_LARGE = 4;

/** Bodies on their way at the same time: `parallel` large ones, and several small ones for each of those. */
export class BodyLimiter {
  readonly #large: Limiter;
  readonly #small: Limiter;

  constructor(parallel: number) {
    this.#large = new Limiter(parallel);
    this.#small = new Limiter(parallel * SMALL_FOR_EACH_LARGE);
  }

  static isSmall(sizeBytes: number): boolean {
    return sizeBytes <= SMALL_BYTES;
  }

  /** How many there are at most. */
  static mostOf(parallel: number): number {
    return parallel * (1 + SMALL_FOR_EACH_LARGE);
  }

  run<Answer>(sizeBytes: number, work: () => Promise<Answer>): Promise<Answer> {
    return (BodyLimiter.isSmall(sizeBytes) ? this.#small : this.#large).run(work);
  }
}

/** Runs at most `limit` of them at once and stops taking more at the first failure, after what is under way has ended. */
export async function forEachParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      const task: Promise<void> = run(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= limit) await Promise.race(running);
      if (failures.length > 0) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}
