import { grantOf, renderEnvelopeError, useErrorRenderer, type HttpApp } from '@svc/http';
import { storeErrors } from '../errors.ts';
import { envelope } from './envelope.ts';
import { toManagementError } from './error-answers.ts';

/** The routes of a disabled store: the status reports it, and every other request fails with 503. */
export async function registerDisabledRoutes(app: HttpApp, prefix: string): Promise<void> {
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
    { prefix },
  );
}
