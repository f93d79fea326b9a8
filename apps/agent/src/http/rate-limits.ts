import { RateLimiter, rateLimitHeaders, type RateLimit } from '@svc/http/rate-limit';
import { agentErrors } from '../errors.ts';

/** The contract's limits; /healthz, /readyz and /livez have none. */
export const CONTRACT_LIMITS: Readonly<Record<string, RateLimit>> = {
  '/metrics': { perMinute: 60, burst: 10 },
  '/info': { perMinute: 60, burst: 10 },
  '/config': { perMinute: 10, burst: 5 },
};

const MAX_ADDRESSES = 10_000;

/** One bucket per limited route and client address. */
export class RouteLimits {
  readonly #limiters: ReadonlyMap<string, RateLimiter>;

  constructor(nowMs: () => number) {
    this.#limiters = new Map(
      Object.entries(CONTRACT_LIMITS).map(([path, limit]) => [
        path,
        new RateLimiter(limit, nowMs, { maxKeys: MAX_ADDRESSES }),
      ]),
    );
  }

  /** Returns the response headers; throws RATE_LIMITED, which carries them too. */
  take(path: string, address: string): Record<string, string> {
    const decision = this.#limiters.get(path)?.take(address);
    if (decision === undefined) return {};
    const headers = rateLimitHeaders(decision);
    if (decision.allowed) return headers;
    throw agentErrors.RATE_LIMITED({
      headers,
      details: {
        field: path,
        reason: `more than ${decision.limit} requests in a minute`,
        retry_after_seconds: decision.retryAfterSeconds,
      },
    });
  }
}
