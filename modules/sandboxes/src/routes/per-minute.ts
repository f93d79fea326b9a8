import { RateLimiter } from '@svc/http';
import type { Clock } from '@svc/runtime';

/**
 * Creates a limiter of `count` requests per caller and minute, which the live replicas share; the whole count may come
 * as one burst.
 */
export function perMinute(count: number, clock: Clock, replicas: () => number = () => 1): RateLimiter {
  return new RateLimiter({ perMinute: count, burst: count }, () => clock.nowMs(), { replicas });
}
