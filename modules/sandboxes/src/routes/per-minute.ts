import { RateLimiter } from '@svc/http';
import type { Effects } from '../domain/ports.ts';

/** Creates a limiter of `count` requests per caller and minute; the whole count may come as one burst. */
export function perMinute(count: number, effects: Effects): RateLimiter {
  return new RateLimiter({ perMinute: count, burst: count }, () => effects.now().getTime());
}
