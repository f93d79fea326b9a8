import { randomBytes } from 'node:crypto';
import type { Effects } from '../domain/ports.ts';

/** The system clock, timers that do not keep the process alive, and system randomness. */
export const systemEffects: Effects = {
  now: () => new Date(),
  setTimer: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  randomBytes,
};
