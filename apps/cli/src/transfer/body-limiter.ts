import pLimit, { type LimitFunction } from 'p-limit';

/**
 * Maximum size of a small body, for which the round trip costs more than the bytes, so more of them may be in flight.
 */
export const SMALL_BYTES = 1024 * 1024;
const SMALL_FOR_EACH_LARGE = 4;

/** Limits concurrent bodies: `parallel` large ones, and several small ones for each of those. */
export class BodyLimiter {
  readonly #large: LimitFunction;
  readonly #small: LimitFunction;

  constructor(parallel: number) {
    this.#large = pLimit(parallel);
    this.#small = pLimit(parallel * SMALL_FOR_EACH_LARGE);
  }

  static isSmall(sizeBytes: number): boolean {
    return sizeBytes <= SMALL_BYTES;
  }

  /** Returns the maximum number of concurrent bodies. */
  static mostOf(parallel: number): number {
    return parallel * (1 + SMALL_FOR_EACH_LARGE);
  }

  run<Answer>(sizeBytes: number, work: () => Promise<Answer>): Promise<Answer> {
    return (BodyLimiter.isSmall(sizeBytes) ? this.#small : this.#large)(work);
  }
}

/** Runs at most `limit` tasks concurrently. Stops at the first failure, after the running tasks end. */
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
