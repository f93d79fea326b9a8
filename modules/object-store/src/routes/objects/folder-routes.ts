import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { assertObjectKey } from '../../domain/object-key.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { createMemorySource } from '../../domain/content/content-source.ts';
import { storeErrors } from '../../errors.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, closed, createEnvelopeSchema, TAGS, teamQuery } from '../schemas.ts';
import { originOf } from './event-origin.ts';

const folderBody = Type.Object(
  { path: Type.String({ minLength: 1, maxLength: 1_024, description: 'A trailing `/` is added if missing' }) },
  closed,
);

/** A folder is a common prefix. A zero-byte object with the folder's name keeps an empty folder. */
export function registerFolderRoutes(app: HttpApp, { services }: ManagementDeps): void {
  app.post(
    '/buckets/:name/folders',
    {
      config: { action: 'object:write', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Create a folder',
        params: bucketParams,
        querystring: teamQuery,
        body: folderBody,
        response: { 201: createEnvelopeSchema(Type.Object({ path: Type.String() })) },
      },
    },
    async (request, reply) => {
      const bucket = await services.buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const path = folderPath(request.body.path);
      const { key, attributes: protection } = await defaultProtection(services, bucket);
      const contentType = 'application/x-directory';
      const source = createMemorySource([]);
      await using content = await services.content.store({ source, bucket, key, kind: 'object', contentType });
      const attributes = { contentType, ...protection };
      await services.objects.put({ bucket, key: path, content, attributes, origin: originOf(request) });
      return await reply.status(201).send(envelope('Folder created', { path }));
    },
  );
}

function folderPath(wanted: string): string {
  const path = wanted.endsWith('/') ? wanted : `${wanted}/`;
  const segments = path.slice(0, -1).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    const reason = 'a path must not start with / or contain empty, . or .. segments';
    throw storeErrors.InvalidArgument({ details: { field: 'path', reason } });
  }
  assertObjectKey(path);
  return path;
}
