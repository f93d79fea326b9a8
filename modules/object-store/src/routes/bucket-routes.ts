import { grantOf, type HttpApp, nullable } from '@svc/http';
import { Type } from 'typebox';
import { sanitizeBucketName } from '../domain/bucket-name.ts';
import { nameIn } from './audit-names.ts';
import { bucketView, encryptionMode, toBucketViews } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { closed, createEnvelopeSchema, TAGS, teamQuery, workspaceParams } from './schemas.ts';

const createBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Converted to `[a-z0-9-]`; the response has the final name',
    }),
    encryption_mode: Type.Optional(encryptionMode),
    location_hint: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
  },
  closed,
);

export function registerBucketRoutes(app: HttpApp, management: ManagementDeps): void {
  const { buckets, deps } = management.services;

  app.get(
    '/buckets',
    {
      config: { action: 'bucket:list' },
      schema: {
        tags: TAGS,
        summary: 'List buckets',
        params: workspaceParams,
        querystring: teamQuery,
        response: {
          200: createEnvelopeSchema(Type.Object({ buckets: Type.Array(bucketView), count: Type.Integer() })),
        },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const found = await buckets.list(workspaceUuid, { limit: deps.config.limits.buckets_per_workspace });
      const views = await toBucketViews(management, workspaceUuid, found);
      return envelope('Buckets', { buckets: views, count: views.length });
    },
  );

  app.post(
    '/buckets',
    {
      config: { action: 'bucket:create', auditResource: (request) => `bucket/${nameIn(request.body)}` },
      schema: {
        tags: TAGS,
        summary: 'Create a bucket; the first one provisions the object store of the workspace',
        description:
          'With the `encryption_mode` `sse-s3`, objects uploaded without encryption headers are encrypted. This ' +
          'is the default unless `object_store.default_encryption` says otherwise.',
        params: workspaceParams,
        querystring: teamQuery,
        body: createBody,
        response: { 201: createEnvelopeSchema(bucketView) },
      },
    },
    async (request, reply) => {
      const {
        name,
        encryption_mode: mode = deps.config.default_encryption,
        location_hint: locationHint = null,
      } = request.body;
      const { workspaceUuid } = grantOf(request);
      const wanted = { name: sanitizeBucketName(name), workspaceUuid, encryptionMode: mode, locationHint };
      const created = { ...(await buckets.create(wanted)), objectCount: 0, sizeBytes: 0 };
      const [view] = await toBucketViews(management, workspaceUuid, [created]);
      if (view === undefined) throw new Error('there is one view for each bucket');
      return await reply.status(201).send(envelope('Bucket created', view));
    },
  );
}
