import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { sanitizeBucketName } from '../domain/bucket-name.ts';
import { storeErrors } from '../errors.ts';
import { nameIn } from './audit-names.ts';
import { toBucketView } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementParts } from './management-parts.ts';
import { teamQuery, workspaceParams } from './schemas.ts';

const TAGS = ['object store'];

const createBody = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Made to fit `[a-z0-9-]`; the answer has the final name.',
    }),
    encryption_mode: Type.Optional(Type.Union([Type.Literal('none'), Type.Literal('sse-s3')], { default: 'none' })),
    location_hint: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
  },
  { additionalProperties: false },
);

export function registerBucketRoutes(app: HttpApp, { services }: ManagementParts): void {
  const { buckets, parts } = services;
  const retentionDays = parts.config.soft_delete_days;

  app.get(
    '/buckets',
    {
      config: { action: 'bucket:list' },
      schema: { tags: TAGS, summary: 'List buckets', params: workspaceParams, querystring: teamQuery },
    },
    async (request) => {
      const limit = parts.config.limits.buckets_per_workspace;
      const found = await buckets.list(grantOf(request).workspaceUuid, { limit });
      const views = found.map((bucket) => toBucketView(bucket, retentionDays));
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
        params: workspaceParams,
        querystring: teamQuery,
        body: createBody,
      },
    },
    async (request, reply) => {
      const { name, encryption_mode: encryptionMode, location_hint: locationHint = null } = request.body;
      if (encryptionMode === 'sse-s3') {
        throw storeErrors.NotImplemented({
          details: { operation: 'encryption_mode sse-s3', field: 'encryption_mode' },
        });
      }
      const { workspaceUuid } = grantOf(request);
      const bucket = await buckets.create({ name: sanitizeBucketName(name), workspaceUuid, locationHint });
      const view = toBucketView({ ...bucket, objectCount: 0, sizeBytes: 0 }, retentionDays);
      return reply.status(201).send(envelope('Bucket created', view));
    },
  );
}
