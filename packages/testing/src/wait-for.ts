import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Time limit; generous, since a test never asserts speed. */
  timeoutMs?: number;
  intervalMs?: number;
  /** Completes "waited 30000 ms for …"; a function is called at the time limit. */
  description?: string | (() => string);
}

/**
 * Polls until the condition returns something other than `false`, `null` or `undefined`, and returns that. A condition
 * that throws is retried; at the time limit, its last error is the cause.
 */
export async function waitFor<Value>(
  condition: () => Value | Promise<Value>,
  options: WaitOptions = {},
): Promise<Exclude<Value, false | null | undefined | void>> {
  const { timeoutMs = 30_000, intervalMs = 10, description = 'a condition' } = options;
  const deadline = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await condition();
      lastError = undefined;
      if (value !== false && value !== null && value !== undefined) {
        return value as Exclude<Value, false | null | undefined | void>; // excluded by the line above
      }
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= deadline) {
      const what = typeof description === 'string' ? description : description();
      throw new Error(`waited ${timeoutMs} ms for ${what}`, lastError === undefined ? {} : { cause: lastError });
    }
    await delay(intervalMs);
  }
}
