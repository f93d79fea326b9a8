import { grantOf, type HttpApp } from '@svc/http';
import { envelope } from './envelope.ts';
import { REGION, type ManagementParts } from './management-parts.ts';
import { teamQuery, workspaceParams } from './schemas.ts';

export function registerStatusRoutes(app: HttpApp, { services, s3Endpoint }: ManagementParts): void {
  const { parts, buckets } = services;

  app.get(
    '/',
    {
      config: { action: 'store:read' },
      schema: {
        tags: ['object store'],
        summary: 'Status, limits and usage of the workspace’s object store',
        params: workspaceParams,
        querystring: teamQuery,
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const found = await buckets.list(workspaceUuid, { limit: parts.config.limits.buckets_per_workspace });
      const sum = (of: (bucket: (typeof found)[number]) => number): number =>
        found.reduce((total, bucket) => total + of(bucket), 0);
      return envelope('Object store', {
        enabled: true,
        tenant_id: workspaceUuid,
        s3_endpoint: s3Endpoint(),
        region: REGION,
        provisioned: await parts.metadata.isProvisioned({ workspaceUuid }),
        limits: parts.config.limits,
        usage: {
          buckets: found.length,
          object_count: sum((bucket) => bucket.objectCount),
          size_bytes: sum((bucket) => bucket.sizeBytes),
        },
      });
    },
  );
}
