import { grantOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { readSettings } from '../domain/settings/bucket-settings.ts';
import { envelope } from './envelope.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { ManagementDeps } from './management-deps.ts';
import { createEnvelopeSchema, createQuerySchema, TAGS, workspaceParams } from './schemas.ts';

const urlsView = Type.Object({
  bucket: Type.String(),
  public: Type.Boolean({ description: 'Whether objects are public by default' }),
  virtual_host: Type.String({ description: 'Append a key to it' }),
  path_style: Type.String({ description: 'Append a key to it' }),
  management_public: Type.String({ description: 'Replace `{key}` with a percent-encoded key' }),
  public_objects: Type.Union([Type.String(), Type.Null()], {
    description:
      'The same in a separate origin, if the operator set one for public objects (`object_store.public_objects.domain`).',
  }),
  custom_domains: Type.Array(Type.String()),
});

/** The URLs of a bucket's objects for browsers. */
export function registerUrlRoutes(app: HttpApp, management: ManagementDeps): void {
  const { services, s3Endpoint, customDomains } = management;

  app.get(
    '/urls',
    {
      config: { action: 'bucket:read' },
      schema: {
        tags: TAGS,
        summary: 'List the URLs of a bucket',
        params: workspaceParams,
        querystring: createQuerySchema({ bucket: Type.String({ minLength: 1, maxLength: 63 }) }),
        response: { 200: createEnvelopeSchema(urlsView) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const bucket = await services.buckets.getOwn(request.query.bucket, workspaceUuid);
      const { config } = services.deps;
      const settings = readSettings(await services.configurations.of(bucket), config.soft_delete_days);
      return envelope('URLs', {
        bucket: bucket.name,
        public: settings.publicDefault,
        virtual_host: virtualHostUrl(s3Endpoint(), config.domains[0], bucket.name),
        path_style: `${s3Endpoint()}/${bucket.name}/`,
        management_public: `${readBaseUrl(management, request)}${publicObjectPath(workspaceUuid, bucket.name, '{key}')}`,
        public_objects: ownOriginUrl(management, request, bucket.name, '{key}'),
        custom_domains: await customDomains(bucket),
      });
    },
  );
}

/** `key` is already URL-encoded. */
function publicObjectPath(tenantId: string, bucketName: string, key: string): string {
  return `/api/v1/public/object-store/t/${tenantId}/objects/${key}?bucket=${bucketName}`;
}

export function encodeKey(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}

/** The URL at which anyone can read a public object; `path` is its URL-encoded key. */
export function publicUrl(
  management: Pick<ManagementDeps, 'baseUrl' | 'publicOrigin'>,
  request: FastifyRequest,
  bucket: Pick<BucketRecord, 'name' | 'workspaceUuid'>,
  path: string,
): string {
  const own = ownOriginUrl(management, request, bucket.name, path);
  return own ?? `${readBaseUrl(management, request)}${publicObjectPath(bucket.workspaceUuid, bucket.name, path)}`;
}

/** Null below `localhost`: not every client can resolve those names, and page loads are redirected there anyway. */
function ownOriginUrl(
  { publicOrigin }: Pick<ManagementDeps, 'publicOrigin'>,
  request: FastifyRequest,
  bucketName: string,
  path: string,
): string | null {
  return publicOrigin.isForEverybody ? publicOrigin.urlOf(bucketName, path, request) : null;
}

/** The configured base URL, or else the one the caller used. */
function readBaseUrl({ baseUrl }: Pick<ManagementDeps, 'baseUrl'>, request: FastifyRequest): string {
  return baseUrl?.() ?? `${request.protocol}://${request.host}`;
}

function virtualHostUrl(endpoint: string, domain: string | undefined, bucketName: string): string {
  const url = new URL(endpoint);
  url.hostname = `${bucketName}.${domain ?? url.hostname}`;
  return url.href;
}
