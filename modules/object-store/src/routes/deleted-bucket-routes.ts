import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { readSettings } from '../domain/settings/bucket-settings.ts';
import { storeErrors } from '../errors.ts';
import { bucketResource } from './audit-names.ts';
import { bucketView, deletedBucketView, toBucketViews, toDeletedBucketView, toGoneBucketView } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { bucketParams, createEnvelopeSchema, createQuerySchema, TAGS, teamQuery, workspaceParams } from './schemas.ts';

/** Deletes buckets, lists deleted ones and restores them. */
export function registerDeletedBucketRoutes(app: HttpApp, management: ManagementDeps): void {
  registerDelete(app, management);
  registerDeletedList(app, management);
  registerRestore(app, management);
}

function registerDelete(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, configurations, forks, deps } = services;

  app.delete(
    '/buckets/:name',
    {
      config: { action: 'bucket:delete', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Delete a bucket; it can be restored until it is purged',
        description:
          "If soft delete is off in the bucket's settings, the bucket is deleted immediately and permanently. It " +
          'must then be empty, unless `force` is true. A fork that is not complete is canceled.',
        params: bucketParams,
        querystring: createQuerySchema({ force: Type.Optional(Type.Boolean()) }),
        response: { 200: createEnvelopeSchema(deletedBucketView) },
      },
    },
    async (request) => {
      const { name } = request.params;
      const { workspaceUuid } = grantOf(request);
      const abandoned = await forks.abandon(name, workspaceUuid);
      if (abandoned !== null) return envelope('Fork canceled', toGoneBucketView(abandoned, deps.clock.nowMs()));
      const bucket = await buckets.getOwn(name, workspaceUuid);
      const { softDelete } = readSettings(await configurations.of(bucket), deps.config.soft_delete_days);
      if (softDelete.enabled) {
        const deleted = await buckets.softDelete(bucket, softDelete.retentionDays);
        return envelope('Bucket deleted; it can be restored', toDeletedBucketView(deleted));
      }
      await (request.query.force === true ? buckets.discard(bucket) : buckets.delete(bucket));
      return envelope('Bucket deleted', toGoneBucketView(bucket, deps.clock.nowMs()));
    },
  );
}

function registerDeletedList(app: HttpApp, { services }: ManagementDeps): void {
  app.get(
    '/buckets/deleted',
    {
      config: { action: 'bucket:list' },
      schema: {
        tags: TAGS,
        summary: 'List deleted buckets that can be restored',
        params: workspaceParams,
        querystring: teamQuery,
        response: {
          200: createEnvelopeSchema(Type.Object({ buckets: Type.Array(deletedBucketView), count: Type.Integer() })),
        },
      },
    },
    async (request) => {
      const found = await services.buckets.listDeleted(grantOf(request).workspaceUuid);
      return envelope('Deleted buckets', { buckets: found.map(toDeletedBucketView), count: found.length });
    },
  );
}

function registerRestore(app: HttpApp, management: ManagementDeps): void {
  const { buckets } = management.services;

  app.post(
    '/buckets/:name/restore',
    {
      config: { action: 'bucket:restore', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Restore a deleted bucket',
        params: bucketParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(bucketView) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const { name } = await buckets.restore(request.params.name, workspaceUuid);
      const found = await buckets.list(workspaceUuid, { prefix: name, limit: 1 });
      const [view] = await toBucketViews(management, workspaceUuid, found);
      if (view?.name !== name) throw storeErrors.NoSuchBucket({ details: { resource: name } });
      return envelope('Bucket restored', view);
    },
  );
}
