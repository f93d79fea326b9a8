/** Limit of a `KeyedQueue` per key, and how a full queue refuses work. */
export interface KeyedQueueOptions {
  /** Runs per key, the current one included. Unlimited by default, for callers that are limited themselves. */
  maxPerKey?: number;
  /** Which run leaves a full queue: the new one (default), or the one that has waited longest. */
  refuses?: 'newest' | 'oldest';
  /** Creates the error of that run. */
  refuse?: (key: string) => Error;
}

interface Waiting {
  start(): void;
  reject(error: Error): void;
}

/**
 * Runs work with the same key one at a time, in the order of the calls, and work with different keys concurrently. A
 * failed run does not affect the next one. Idle keys take no memory.
 *
 * @example
 *   const queue = new KeyedQueue({ maxPerKey: 32, refuse: () => errors.BUSY() });
 *   const result = await queue.run(account, () => checkPassword(account));
 */
export class KeyedQueue {
  readonly #maxPerKey: number;
  readonly #refusesOldest: boolean;
  readonly #refuse: (key: string) => Error;
  /** What waits behind the current run of each key that has one. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #unended = new Set<Promise<void>>();

  constructor({ maxPerKey = Infinity, refuses = 'newest', refuse = fullError }: KeyedQueueOptions = {}) {
    this.#maxPerKey = maxPerKey;
    this.#refusesOldest = refuses === 'oldest';
    this.#refuse = refuse;
  }

  /** Keys with a current run. */
  get size(): number {
    return this.#waiting.size;
  }

  /** True while work with this key runs. */
  has(key: string): boolean {
    return this.#waiting.has(key);
  }

  /**
   * Runs `work` after all earlier work with this key. Rejects with its error, with that of `refuse`, or with the reason
   * of `signal`, which ends the wait only: work that has started handles it itself.
   */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#unended.add(ended);
    try {
      return await this.#inTurn(key, work, signal);
    } finally {
      this.#unended.delete(ended);
      end();
    }
  }

  /** Resolves when all runs requested so far have ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#unended);
  }

  async #inTurn<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    if (signal?.aborted === true) throw abortError(signal);
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#waiting.set(key, []);
    else await this.#turn(key, waiting, signal);
    try {
      return await work();
    } finally {
      this.#startNext(key);
    }
  }

  async #turn(key: string, waiting: Waiting[], signal?: AbortSignal): Promise<void> {
    if (waiting.length + 1 >= this.#maxPerKey) {
      const refused = this.#refusesOldest ? waiting.shift() : undefined;
      if (refused === undefined) throw this.#refuse(key);
      refused.reject(this.#refuse(key));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Waiting = { start: resolve, reject };
    const leave = (): void => {
      const at = waiting.indexOf(entry);
      if (at === -1) return; // it starts or was refused at this moment
      waiting.splice(at, 1);
      if (signal !== undefined) reject(abortError(signal));
    };
    waiting.push(entry);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #startNext(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next.start();
  }
}

function abortError({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new DOMException('The wait was aborted', 'AbortError');
}

function fullError(key: string): Error {
  return new Error(`Too much work waits for ${key}`);
}
