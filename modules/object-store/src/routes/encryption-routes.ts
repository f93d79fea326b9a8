import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { bucketResource } from './audit-names.ts';
import { encryptionMode } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { bucketParams, closed, createEnvelopeSchema, TAGS, teamQuery } from './schemas.ts';

const route = { tags: TAGS, params: bucketParams, querystring: teamQuery };
const encryptionView = Type.Object({ mode: encryptionMode });

/** Default encryption of objects uploaded without encryption headers. `aws:kms` is available on the S3 plane only. */
export function registerEncryptionRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, encryption } = services;
  const response = { 200: createEnvelopeSchema(encryptionView) };

  app.get(
    '/buckets/:name/encryption',
    {
      config: { action: 'bucket:read' },
      schema: { ...route, summary: 'Get the default encryption of a bucket', response },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      return envelope('Encryption', { mode: bucket.encryptionMode });
    },
  );

  app.put(
    '/buckets/:name/encryption',
    {
      config: { action: 'bucket:update', auditResource: bucketResource },
      schema: {
        ...route,
        summary: 'Turn the encryption of new objects in a bucket on or off',
        description: 'Existing objects do not change. To encrypt one, copy it onto itself.',
        body: Type.Object({ mode: encryptionMode }, closed),
        response,
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const { mode } = request.body;
      await encryption.setDefault(bucket, mode === 'none' ? null : { algorithm: 'AES256' });
      return envelope('Encryption changed', { mode });
    },
  );
}
