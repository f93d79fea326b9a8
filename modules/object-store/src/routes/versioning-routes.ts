import { grantOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import type { BucketRecord } from '../domain/ports/records.ts';
import { bucketResource } from './audit-names.ts';
import { envelope } from './envelope.ts';
import { REGION, type ManagementDeps } from './management-deps.ts';
import { bucketParams, createEnvelopeSchema, nullableText, TAGS, teamQuery } from './schemas.ts';

const route = { tags: TAGS, params: bucketParams, querystring: teamQuery };

const versioningView = Type.Object({
  status: Type.Union([Type.Literal('unversioned'), Type.Literal('enabled'), Type.Literal('suspended')]),
  mfa_delete: Type.Boolean(),
});

/** `enabled` is Tigris's form; the capitalized statuses are S3's. */
const versioningBody = Type.Object(
  {
    status: Type.Optional(
      Type.Union([
        Type.Literal('enabled'),
        Type.Literal('suspended'),
        Type.Literal('Enabled'),
        Type.Literal('Suspended'),
      ]),
    ),
    enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

const locationView = Type.Object({
  location: Type.String(),
  region: Type.String(),
  location_hint: nullableText,
  provider: Type.String({ description: 'Engine that stores the objects' }),
});

export function registerVersioningRoutes(app: HttpApp, { services, provider }: ManagementDeps): void {
  const { buckets, deps } = services;
  const response = { 200: createEnvelopeSchema(versioningView) };

  app.get(
    '/buckets/:name/versioning',
    {
      config: { action: 'bucket:read' },
      schema: { ...route, summary: 'Get the versioning state of a bucket', response },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      return envelope('Versioning', toVersioningView(bucket.versioning));
    },
  );

  app.put(
    '/buckets/:name/versioning',
    {
      config: { action: 'bucket:update', auditResource: bucketResource },
      schema: {
        ...route,
        summary: 'Turn versioning on or suspend it; a versioned bucket cannot become unversioned',
        body: versioningBody,
        response,
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const { status, enabled } = request.body;
      const versioning = status?.toLowerCase() === 'enabled' || enabled === true ? 'enabled' : 'suspended';
      await deps.metadata.setVersioning({ bucketId: bucket.id, versioning });
      return envelope('Versioning changed', toVersioningView(versioning));
    },
  );

  app.get(
    '/buckets/:name/location',
    {
      config: { action: 'bucket:read' },
      schema: {
        ...route,
        summary: 'Get the location of a bucket',
        response: { 200: createEnvelopeSchema(locationView) },
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      return envelope('Location', {
        location: REGION,
        region: REGION,
        location_hint: bucket.locationHint,
        provider,
      });
    },
  );
}

function toVersioningView(status: BucketRecord['versioning']): Static<typeof versioningView> {
  return { status, mfa_delete: false };
}
