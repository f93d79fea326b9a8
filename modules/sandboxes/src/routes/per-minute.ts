import { RateLimiter, rateLimitHeaders } from '@svc/http';
import type { Quota, QuotaLimits, QuotaRates } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import { admissionOf, type CallerLimiter } from '../domain/admission.ts';
import { sandboxErrors } from '../errors.ts';

/**
 * Creates a limiter of `count` requests per key and minute, which the live replicas share; the whole count may come
 * as one burst.
 */
export function perMinute(count: number, clock: Clock, replicas: () => number = () => 1): RateLimiter {
  return new RateLimiter({ perMinute: count, burst: count }, () => clock.nowMs(), { replicas });
}

/** Counts one call of the key. Throws RATE_LIMITED. */
export function takeOrRefuse(limiter: RateLimiter, key: string): void {
  const decision = limiter.take(key);
  if (decision.allowed) return;
  const details = { retry_after_seconds: decision.retryAfterSeconds };
  throw sandboxErrors.RATE_LIMITED({ details, headers: rateLimitHeaders(decision) });
}

export interface CallerLimiterOptions {
  /** Of each caller. A service account counts as the owner of its workspace. */
  readonly perCaller: RateLimiter;
  readonly quotaLimits: QuotaLimits;
  /** Of all callers of a workspace, and of an owner; none by default. */
  readonly quota?: { readonly rates: QuotaRates; readonly of: Quota };
}

export function createCallerLimiter({ perCaller, quotaLimits, quota }: CallerLimiterOptions): CallerLimiter {
  return {
    admit: async (principal, workspaceUuid) => {
      const limits = await quotaLimits.readLimits(workspaceUuid);
      takeOrRefuse(perCaller, admissionOf(principal, null, limits).accountableId);
      const refusal = quota?.rates.take(quota.of, limits) ?? null;
      if (refusal === null) return;
      const { retryAfterSeconds, ...named } = refusal;
      throw sandboxErrors.RATE_QUOTA_EXCEEDED({
        details: { ...named, retry_after_seconds: retryAfterSeconds },
        headers: { 'retry-after': String(retryAfterSeconds) },
      });
    },
  };
}
