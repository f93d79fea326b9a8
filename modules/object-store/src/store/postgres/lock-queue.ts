import type { Lock } from '../program.ts';

interface Holders {
  /** Ends after the latest exclusive holder. */
  exclusive: Promise<unknown>;
  /** The holders since, which share the lock. */
  shared: Promise<unknown>[];
}

/**
 * Runs programs of one transaction in the order of their calls where they want the same lock: locks of the database do
 * not exclude statements of one transaction. All locks of a program are requested at once, so none waits forever.
 */
export class LockQueue {
  readonly #holders = new Map<string, Holders>();

  async run<Result>(locks: readonly Lock[], work: () => Promise<Result>): Promise<Result> {
    const before: Promise<unknown>[] = [];
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const names = new Set(locks.map(({ name }) => name));
    for (const name of names) {
      const shared = locks.every((lock) => lock.name !== name || lock.shared);
      const holders = this.#holders.get(name);
      if (holders === undefined) {
        this.#holders.set(name, shared ? { exclusive: FREE, shared: [done] } : { exclusive: done, shared: [] });
        continue;
      }
      if (holders.exclusive !== FREE) before.push(holders.exclusive);
      if (shared) {
        holders.shared.push(done);
      } else {
        before.push(...holders.shared);
        this.#holders.set(name, { exclusive: done, shared: [] });
      }
    }
    try {
      if (before.length > 0) await Promise.all(before);
      return await work();
    } finally {
      release();
    }
  }
}

const FREE = Promise.resolve();
