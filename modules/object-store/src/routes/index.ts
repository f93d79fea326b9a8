import { renderEnvelopeError, useErrorRenderer, type HttpApp } from '@svc/http';
import { registerBucketDomainRoutes } from './bucket-domain-routes.ts';
import { registerBucketRoutes } from './bucket-routes.ts';
import { registerDeletedBucketRoutes } from './deleted-bucket-routes.ts';
import { registerConfigurationRoutes } from './configuration-routes.ts';
import { registerDisabledRoutes } from './disabled-routes.ts';
import { toManagementError } from './error-answers.ts';
import { registerDomainRoutes } from './domain-routes.ts';
import { registerKeyRoutes } from './key-routes.ts';
import type { ManagementDeps } from './management-deps.ts';
import { registerNotificationRoutes } from './notification-routes.ts';
import { registerObjectRoutes } from './objects/register-objects.ts';
import { PUBLIC_PREFIX, registerPublicRoutes } from './public-routes.ts';
import { limitRequestRate } from './request-rate.ts';
import { registerStatusRoutes } from './status-routes.ts';
import { registerTrashRoutes } from './trash-routes.ts';
import { registerUsageRoutes } from './usage-routes.ts';
import { registerUrlRoutes } from './url-routes.ts';
import { registerEncryptionRoutes } from './encryption-routes.ts';
import { registerVersioningRoutes } from './versioning-routes.ts';

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

/** The same routes for a disabled store. */
export async function registerDisabledManagement(app: HttpApp): Promise<void> {
  await registerDisabledRoutes(app, MANAGEMENT_PREFIX);
}
