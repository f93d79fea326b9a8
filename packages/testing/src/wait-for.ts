import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** After this long the wait fails; generous, since a test never asserts speed. */
  timeoutMs?: number;
  intervalMs?: number;
  /** Ends the sentence "waited 30000 ms for …"; a function is asked when the time is up. */
  description?: string | (() => string);
}

/**
 * Asks until the condition answers something that is neither `false`, `null` nor `undefined`, and gives that back. A
 * condition that throws counts as not yet; its last error is the cause when the time is up.
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
        return value as Exclude<Value, false | null | undefined | void>; // the line above excluded them
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
