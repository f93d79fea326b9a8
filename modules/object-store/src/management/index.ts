import { renderEnvelopeError, useErrorRenderer, type HttpApp } from '@svc/http';
import { registerBucketDomainRoutes } from './bucket-domain-routes.ts';
import { registerBucketRoutes } from './bucket-routes.ts';
import { registerDeletedBucketRoutes } from './deleted-bucket-routes.ts';
import { registerConfigurationRoutes } from './configuration-routes.ts';
import { toManagementError } from './error-answers.ts';
import { registerDomainRoutes } from './domain-routes.ts';
import { registerKeyRoutes } from './key-routes.ts';
import type { ManagementParts } from './management-parts.ts';
import { registerNotificationRoutes } from './notification-routes.ts';
import { registerStatusRoutes } from './status-routes.ts';
import { registerUrlRoutes } from './url-routes.ts';
import { registerVersioningRoutes } from './versioning-routes.ts';

export const MANAGEMENT_PREFIX = '/api/v1/workspace/:workspace_uuid/object-store';

/** The contract's routes, with its envelope for answers and errors. */
export async function registerManagementRoutes(app: HttpApp, parts: ManagementParts): Promise<void> {
  await app.register(
    async (scope: HttpApp) => {
      useErrorRenderer(scope, renderEnvelopeError, toManagementError);
      registerStatusRoutes(scope, parts);
      registerBucketRoutes(scope, parts);
      registerDeletedBucketRoutes(scope, parts);
      registerConfigurationRoutes(scope, parts);
      registerVersioningRoutes(scope, parts);
      registerNotificationRoutes(scope, parts);
      registerUrlRoutes(scope, parts);
      registerKeyRoutes(scope, parts);
      registerDomainRoutes(scope, parts);
      registerBucketDomainRoutes(scope, parts);
    },
    { prefix: MANAGEMENT_PREFIX },
  );
}
