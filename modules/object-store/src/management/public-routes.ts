import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { bucketAccessOf } from '../domain/access/bucket-access.ts';
import { mayReadAnonymously } from '../domain/access/public-read.ts';
import { assertObjectKey } from '../domain/object-key.ts';
import { settingsOf } from '../domain/settings/bucket-settings.ts';
import { storeErrors } from '../errors.ts';
import type { FoundObject } from '../ports/metadata-store.ts';
import type { BucketRecord } from '../ports/records.ts';
import type { ManagementParts } from './management-parts.ts';
import { sendObject, shownSafely } from './objects/send-object.ts';
import { TAGS } from './schemas.ts';

export const PUBLIC_PREFIX = '/api/v1/public/object-store';

/** Nothing said: caches ask again before they show it, so that what is made private is gone. */
const DEFAULT_CACHE_CONTROL = 'public, no-cache';
const HAS_BYTES = { type: 'string', format: 'binary' };

/** What buckets and objects make public, for browsers. A private object and one that is not are told apart by nothing. */
export function registerPublicRoutes(app: HttpApp, { services }: ManagementParts): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/t/:tenant_id/objects/*',
    // Only what its owner made public is answered, and the decision is made for each object.
    config: { public: true },
    schema: {
      tags: TAGS,
      summary: 'Read an object that is public; no credentials',
      description:
        'The key is the rest of the path, percent-encoded. Takes `Range`, `If-Range` and the conditional headers.',
      params: Type.Object({ tenant_id: Type.String({ maxLength: 64 }), '*': Type.String({ description: 'The key.' }) }),
      querystring: Type.Object({ bucket: Type.String({ minLength: 1, maxLength: 63 }) }),
      response: {
        200: { description: 'The object.', content: { '*/*': { schema: HAS_BYTES } } },
        206: { description: 'A range of it.', content: { '*/*': { schema: HAS_BYTES } } },
        304: { description: 'The caller has it already.', type: 'null' },
      },
    },
    handler: async (request, reply) => {
      const key = keyOf(request);
      const found = await findPublic(services, request.params.tenant_id, request.query.bucket, key);
      await send(services, request, reply, found);
    },
  });
}

interface Found {
  bucket: BucketRecord;
  found: FoundObject;
  cacheControl: string | null;
}

async function findPublic(
  services: ManagementParts['services'],
  tenantId: string,
  bucketName: string,
  key: string,
): Promise<Found> {
  const { parts, configurations, objects } = services;
  // One refusal for all: no such bucket, another's bucket, no such key, a private object.
  const absent = (): Error => storeErrors.NoSuchKey({ details: { resource: null } });
  const bucket = await parts.metadata.findBucket({ name: bucketName });
  if (bucket === null || bucket.workspaceUuid !== tenantId) throw absent();
  const configuration = await configurations.of(bucket);
  const found = await objects.find({ bucket, key }).catch((error: unknown) => {
    throw isNoSuchKey(error) ? absent() : error;
  });
  const access = bucketAccessOf(bucket, configuration);
  if (!mayReadAnonymously({ bucket, access, version: found.version })) throw absent();
  return { bucket, found, cacheControl: settingsOf(configuration, parts.config.soft_delete_days).cacheControl };
}

function isNoSuchKey(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'NoSuchKey'; // only looked at
}

async function send(
  services: ManagementParts['services'],
  request: FastifyRequest,
  reply: FastifyReply,
  { bucket, found, cacheControl }: Found,
): Promise<void> {
  const { attributes, key } = found.version;
  const own = attributes.headers ?? {};
  const safe = shownSafely(attributes.contentType, key, 'inline');
  await sendObject(services, request, reply, {
    bucket,
    found,
    headers: {
      'cache-control': own['cache-control'] ?? cacheControl ?? DEFAULT_CACHE_CONTROL,
      ...safe,
      ...(own['content-disposition'] === undefined ? {} : { 'content-disposition': own['content-disposition'] }),
    },
  });
}

/** From the raw URL: the router joins what it should not, such as a slash that was encoded. */
function keyOf(request: FastifyRequest): string {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  const raw = path.split('/').slice(8).join('/');
  let key: string;
  try {
    key = decodeURIComponent(raw);
  } catch {
    throw storeErrors.InvalidURI();
  }
  if (key === '') throw storeErrors.NoSuchKey({ details: { resource: null } });
  assertObjectKey(key);
  return key;
}
