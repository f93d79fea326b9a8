import type { Clock } from '@svc/runtime';

/**
 * Wakes callers that wait for a row to change; they then read the row from the store. An event of the database calls
 * `notify`. It may be missed, so a wait also ends after `pollMs` and its caller reads again.
 */
export class Changes {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #clock: Clock;
  readonly #pollMs: number;

  constructor(clock: Clock, pollMs: number) {
    this.#clock = clock;
    this.#pollMs = pollMs;
  }

  notify(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake();
  }

  /** For changes that may have been missed. */
  notifyAll(): void {
    for (const key of this.#waiting.keys()) this.notify(key);
  }

  /**
   * Starts listening immediately, so a change between the caller's read and its wait is not missed: subscribe, read,
   * then `next()`.
   */
  subscribe(key: string): Subscription {
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    let changed = false;
    let wake: (() => void) | undefined;
    const listener = (): void => {
      changed = true;
      wake?.();
    };
    waiting.add(listener);
    return {
      next: async (maxWaitMs, signal) => {
        if (!changed && !signal.aborted) {
          await new Promise<void>((resolve) => {
            const done = (): void => {
              cancel();
              signal.removeEventListener('abort', done); // the signal outlives many waits
              resolve();
            };
            const cancel = this.#clock.setTimer(done, Math.min(maxWaitMs, this.#pollMs));
            wake = done;
            signal.addEventListener('abort', done, { once: true });
          });
          wake = undefined;
        }
        changed = false;
      },
      end: () => {
        waiting.delete(listener);
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      },
    };
  }

  /** Number of listeners for a key; used to limit streams. */
  count(key: string): number {
    return this.#waiting.get(key)?.size ?? 0;
  }
}

export interface Subscription {
  /** Resolves on the next change since the last call, on timeout, or when the signal aborts. */
  next(maxWaitMs: number, signal: AbortSignal): Promise<void>;
  end(): void;
}

export const commandKey = (commandId: string): string => `command:${commandId}`;
export const eventsKey = (clusterId: string): string => `events:${clusterId}`;
