import { RateLimiter } from '@svc/http';
import type { Effects } from '../domain/ports.ts';

/** Lets each caller do something so many times a minute, all of them at once if it likes. */
export function perMinute(count: number, effects: Effects): RateLimiter {
  return new RateLimiter({ perMinute: count, burst: count }, () => effects.now().getTime());
}
