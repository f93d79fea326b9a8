import { randomBytes } from 'node:crypto';
import { backgroundClock } from '@svc/runtime';
import type { Effects } from '../domain/ports.ts';

/** The system clock, timers that do not keep the process alive, and system randomness. */
export const systemEffects: Effects = { ...backgroundClock, randomBytes };
