import { grantOf, RateLimiter, rateLimitHeaders, renderEnvelopeError, useErrorRenderer, type HttpApp } from '@svc/http';
import { storeErrors } from '../errors.ts';
import { registerBucketDomainRoutes } from './bucket-domain-routes.ts';
import { registerBucketRoutes } from './bucket-routes.ts';
import { registerDeletedBucketRoutes } from './deleted-bucket-routes.ts';
import { registerConfigurationRoutes } from './configuration-routes.ts';
import { toManagementError } from './error-answers.ts';
import { registerForkRoutes } from './fork-routes.ts';
import { registerDomainRoutes } from './domain-routes.ts';
import { registerKeyRoutes } from './key-routes.ts';
import type { ManagementDeps } from './management-deps.ts';
import { registerNotificationRoutes } from './notification-routes.ts';
import { registerObjectRoutes } from './objects/register-objects.ts';
import { PUBLIC_PREFIX, registerPublicRoutes } from './public-routes.ts';
import { registerStatusRoutes } from './status-routes.ts';
import { registerTrashRoutes } from './trash-routes.ts';
import { registerUsageRoutes } from './usage-routes.ts';
import { registerUrlRoutes } from './url-routes.ts';
import { registerEncryptionRoutes } from './encryption-routes.ts';
import { registerVersioningRoutes } from './versioning-routes.ts';
import { envelope } from './envelope.ts';

export const MANAGEMENT_PREFIX = '/api/v1/workspace/:workspace_uuid/object-store';

/** Registers the contract's routes, with its envelope for responses and errors. */
export async function registerManagementRoutes(app: HttpApp, deps: ManagementDeps): Promise<void> {
  await app.register(
    async (scope: HttpApp) => {
      useErrorRenderer(scope, renderEnvelopeError, toManagementError);
      limitRequestRate(scope, deps);
      registerStatusRoutes(scope, deps);
      registerBucketRoutes(scope, deps);
      registerDeletedBucketRoutes(scope, deps);
      registerForkRoutes(scope, deps);
      registerConfigurationRoutes(scope, deps);
      registerVersioningRoutes(scope, deps);
      registerEncryptionRoutes(scope, deps);
      registerNotificationRoutes(scope, deps);
      registerUrlRoutes(scope, deps);
      registerUsageRoutes(scope, deps);
      registerTrashRoutes(scope, deps);
      registerKeyRoutes(scope, deps);
      registerDomainRoutes(scope, deps);
      registerBucketDomainRoutes(scope, deps);
      await registerObjectRoutes(scope, deps);
    },
    { prefix: MANAGEMENT_PREFIX },
  );
  await app.register(
    async (scope: HttpApp) => {
      useErrorRenderer(scope, renderEnvelopeError, toManagementError);
      registerPublicRoutes(scope, deps);
    },
    { prefix: PUBLIC_PREFIX },
  );
}

/** The routes of a disabled store: the status reports it, and every other request fails with 503. */
export async function registerDisabledManagement(app: HttpApp): Promise<void> {
  await app.register(
    async (scope: HttpApp) => {
      useErrorRenderer(scope, renderEnvelopeError, toManagementError);
      const config = { action: 'store:read' } as const;
      const schema = { hide: true };
      scope.get('/', { config, schema }, async (request) => {
        const { workspaceUuid } = grantOf(request);
        return envelope('Object store', { enabled: false, tenant_id: workspaceUuid, s3_endpoint: '' });
      });
      scope.route({
        method: ['GET', 'POST', 'PUT', 'DELETE'],
        url: '/*',
        config,
        schema,
        handler: async () => {
          throw storeErrors.ObjectStoreDisabled();
        },
      });
    },
    { prefix: MANAGEMENT_PREFIX },
  );
}

/**
 * Limits requests per bucket: this API is for people and tools, the S3 plane for applications. Counts by workspace and
 * name, so that one workspace cannot use up another's limit.
 */
function limitRequestRate(scope: HttpApp, { services }: ManagementDeps): void {
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
