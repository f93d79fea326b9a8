import { randomBytes } from 'node:crypto';
import type { Effects } from '../domain/ports.ts';

/** The machine's clock, timers that keep no process alive, and its random numbers. */
export const systemEffects: Effects = {
  now: () => new Date(),
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  randomBytes,
};
