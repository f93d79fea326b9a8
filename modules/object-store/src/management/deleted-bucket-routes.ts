import { grantOf, type HttpApp } from '@svc/http';
import { storeErrors } from '../errors.ts';
import { nameIn } from './audit-names.ts';
import { toBucketView, toDeletedBucketView } from './bucket-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementParts } from './management-parts.ts';
import { bucketParams, teamQuery, workspaceParams } from './schemas.ts';

const TAGS = ['object store'];

/** Deleting a bucket, seeing what was deleted, and having it back. */
export function registerDeletedBucketRoutes(app: HttpApp, { services }: ManagementParts): void {
  const { buckets, parts } = services;

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
      return envelope('Bucket restored', toBucketView(bucket, parts.config.soft_delete_days));
    },
  );
}
