import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { createOwner } from '../domain/access/owner-identity.ts';
import { MAX_OBJECT_TAGS } from '../domain/tags.ts';
import { envelope } from './envelope.ts';
import { REGION, type ManagementDeps } from './management-deps.ts';
import { createEnvelopeSchema, TAGS, teamQuery, workspaceParams } from './schemas.ts';

const statusView = Type.Object({
  enabled: Type.Boolean(),
  tenant_id: Type.String({ description: 'The UUID of the workspace' }),
  owner_id: Type.String({ description: 'Owner of the buckets in S3 ACLs' }),
  owner_display_name: Type.String(),
  s3_endpoint: Type.String(),
  region: Type.String(),
  provisioned: Type.Boolean({
    description: 'Whether a bucket has ever been created; access keys and domains require one',
  }),
  limits: Type.Record(Type.String(), Type.Integer(), { description: 'Limits by name; each name ends with its unit' }),
  usage: Type.Object({ buckets: Type.Integer(), object_count: Type.Integer(), size_bytes: Type.Integer() }),
});

export function registerStatusRoutes(app: HttpApp, { services, s3Endpoint }: ManagementDeps): void {
  const { deps, buckets } = services;
  const limits = {
    ...deps.config.limits,
    domains_per_bucket: deps.config.custom_domains.domains_per_bucket,
    tags_per_object: MAX_OBJECT_TAGS,
  };

  app.get(
    '/',
    {
      config: { action: 'store:read' },
      schema: {
        tags: TAGS,
        summary: 'Get the status, limits and usage of the workspace’s object store',
        params: workspaceParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(statusView) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const owner = createOwner(workspaceUuid);
      const usage = await buckets.usage(workspaceUuid);
      return envelope('Object store', {
        enabled: true,
        tenant_id: workspaceUuid,
        owner_id: owner.id,
        owner_display_name: owner.displayName,
        s3_endpoint: s3Endpoint(),
        region: REGION,
        provisioned: await deps.metadata.isProvisioned({ workspaceUuid }),
        limits,
        usage: { buckets: usage.buckets, object_count: usage.objectCount, size_bytes: usage.sizeBytes },
      });
    },
  );
}
