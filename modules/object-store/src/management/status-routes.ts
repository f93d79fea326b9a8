import { grantOf, type HttpApp } from '@svc/http';
import { ownerOf } from '../domain/access/owner-identity.ts';
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
      const owner = ownerOf(workspaceUuid);
      const usage = await buckets.usage(workspaceUuid);
      return envelope('Object store', {
        enabled: true,
        tenant_id: workspaceUuid,
        owner_id: owner.id,
        owner_display_name: owner.displayName,
        s3_endpoint: s3Endpoint(),
        region: REGION,
        provisioned: await parts.metadata.isProvisioned({ workspaceUuid }),
        limits: parts.config.limits,
        usage: { buckets: usage.buckets, object_count: usage.objectCount, size_bytes: usage.sizeBytes },
      });
    },
  );
}
