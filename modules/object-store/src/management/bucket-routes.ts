import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { sanitizeBucketName } from '../domain/bucket-name.ts';
import { storeErrors } from '../errors.ts';
import { toBucketView, toDeletedBucketView } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementParts } from './management-parts.ts';
import { bucketParams, teamQuery, workspaceParams } from './schemas.ts';

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

  app.delete(
    '/buckets/:name',
    {
      config: { action: 'bucket:delete', auditResource: (request) => `bucket/${nameIn(request.params)}` },
      schema: {
        tags: TAGS,
        summary: 'Delete a bucket; it can be restored until its purge',
        params: bucketParams,
        querystring: teamQuery,
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const deleted = await buckets.softDelete(bucket);
      return envelope('Bucket deleted; it can be restored', toDeletedBucketView(deleted));
    },
  );

  app.get(
    '/buckets/deleted',
    {
      config: { action: 'bucket:list' },
      schema: {
        tags: TAGS,
        summary: 'List deleted buckets that can be restored',
        params: workspaceParams,
        querystring: teamQuery,
      },
    },
    async (request) => {
      const found = await buckets.listDeleted(grantOf(request).workspaceUuid);
      return envelope('Deleted buckets', { buckets: found.map(toDeletedBucketView), count: found.length });
    },
  );

  app.post(
    '/buckets/:name/restore',
    {
      config: { action: 'bucket:restore', auditResource: (request) => `bucket/${nameIn(request.params)}` },
      schema: { tags: TAGS, summary: 'Restore a deleted bucket', params: bucketParams, querystring: teamQuery },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const { name } = await buckets.restore(request.params.name, workspaceUuid);
      const [bucket] = await buckets.list(workspaceUuid, { prefix: name, limit: 1 });
      if (bucket?.name !== name) throw storeErrors.NoSuchBucket({ details: { resource: name } });
      return envelope('Bucket restored', toBucketView(bucket, retentionDays));
    },
  );
}

/** For the audit log, where a refused body may have any shape. */
function nameIn(value: unknown): string {
  const { name } = (value ?? {}) as { name?: unknown }; // only looked at
  return typeof name === 'string' ? name.slice(0, 64) : 'unnamed';
}
