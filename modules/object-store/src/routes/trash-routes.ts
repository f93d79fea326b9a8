import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { emptyTrash } from '../domain/empty-trash.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { createEnvelopeSchema, TAGS, teamQuery, workspaceParams } from './schemas.ts';

const emptiedSchema = Type.Object({
  entries: Type.Integer({ description: 'Objects, uploads and replaced parts to purge' }),
  bytes: Type.Integer(),
});

/**
 * Deleted bytes wait out a grace period and count toward the quota until they are removed. This ends the wait.
 */
export function registerTrashRoutes(app: HttpApp, { services }: ManagementDeps): void {
  app.delete(
    '/trash',
    {
      config: { action: 'object:delete', auditResource: () => 'trash' },
      schema: {
        tags: TAGS,
        summary: 'Purge deleted objects now, without the grace period',
        description:
          'The space is free within half a minute. Running downloads of deleted objects may be cut off. Deleted ' +
          'buckets that can be restored are kept.',
        params: workspaceParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(emptiedSchema) },
      },
    },
    async (request) => {
      const emptied = await emptyTrash(services.deps, grantOf(request).workspaceUuid);
      return envelope('The trash is being emptied', emptied);
    },
  );
}
