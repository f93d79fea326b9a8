import { grantOf, RateLimiter, rateLimitHeaders, type HttpApp } from '@svc/http';
import { storeErrors } from '../errors.ts';
import type { ManagementDeps } from './management-deps.ts';

/**
 * Limits requests per bucket: this API is for people and tools, the S3 plane for applications. Counts by workspace and
 * name, so that one workspace cannot use up another's limit.
 */
export function limitRequestRate(scope: HttpApp, { services }: ManagementDeps): void {
  const perSecond = services.deps.config.limits.management_requests_per_second;
  const limiter = new RateLimiter({ perMinute: perSecond * 60, burst: perSecond }, () => services.deps.clock.nowMs());
  scope.addHook('onRequest', async (request, reply) => {
    const bucketName = parseName(request.params) ?? parseName({ name: parseBucket(request.query) });
    if (bucketName === null) return;
    const decision = limiter.take(`${grantOf(request).workspaceUuid}/${bucketName}`);
    const headers = rateLimitHeaders(decision);
    reply.headers(headers);
    if (!decision.allowed) throw storeErrors.SlowDown({ headers });
  });
}

function parseName(params: unknown): string | null {
  const { name } = (params ?? {}) as { name?: unknown }; // unvalidated; checked below
  return typeof name === 'string' ? name : null;
}

function parseBucket(query: unknown): unknown {
  return ((query ?? {}) as { bucket?: unknown }).bucket; // likewise unvalidated
}
