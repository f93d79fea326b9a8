import { grantOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { readBucketAccess } from '../../domain/access/bucket-access.ts';
import { visibilityAttributes } from '../../domain/access/object-acl.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import { parseTags } from '../../domain/read-conditions.ts';
import { countTraffic } from '../../s3/count-traffic.ts';
import type { WriteConditions } from '../../domain/ports/records.ts';
import { readAttributes } from '../../s3/object-attributes.ts';
import { RequestHeaders } from '../../s3/request-headers.ts';
import { objectResource } from '../audit-names.ts';
import { envelope } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, createQuerySchema, TAGS } from '../schemas.ts';
import { encodeKey, publicUrl } from '../url-routes.ts';
import { createBodySource } from './body-source.ts';
import { originOf } from './event-origin.ts';
import { keyText, storedView, versionIdText } from './object-schemas.ts';
import { toStoredView } from './object-view.ts';
import { mayPublish } from './publish-rights.ts';
import { createExchange, detectReader, sendObject } from './send-object.ts';

const HAS_BYTES = { type: 'string', format: 'binary' };

/** Uploads and downloads of single objects with a raw body. */
export function registerContentRoutes(app: HttpApp, management: ManagementDeps): void {
  registerPut(app, management);
  registerDownload(app, management);
}

function registerPut(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;
  const { buckets, objects, configurations, deps } = services;

  app.put(
    '/buckets/:name/objects/content',
    {
      config: { action: 'object:write', auditResource: objectResource, rawBody: true },
      bodyLimit: deps.config.limits.put_bytes,
      schema: {
        tags: TAGS,
        summary: 'Upload an object',
        description:
          'The request body is the content. `Content-Type`, `Cache-Control`, similar headers and `x-amz-meta-*` ' +
          'are stored with the object. `If-None-Match: *` fails with 412 if the key exists; `If-Match` fails with ' +
          '412 if the current object does not match.',
        consumes: ['application/octet-stream'],
        params: bucketParams,
        querystring: createQuerySchema({ key: keyText, public: Type.Optional(Type.Boolean()) }),
        response: { 201: createEnvelopeSchema(storedView) },
      },
    },
    async (request, reply) => {
      const { key, public: isPublic = false } = request.query;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      countTraffic(services.traffic, bucket, request.raw, reply.raw);
      assertObjectKey(key);
      const headers = new RequestHeaders(request.raw.rawHeaders);
      const configuration = await configurations.of(bucket);
      const visibility = { isPublic, mayPublish: await mayPublish(isPublic, request, deps) };
      const protection = await defaultProtection(services, bucket);
      const attributes = {
        ...protection.attributes,
        ...readAttributes(headers, deps.config.limits.metadata_bytes),
        ...visibilityAttributes(visibility, bucket, readBucketAccess(bucket, configuration)),
      };
      const { contentType } = attributes;
      const conditions = parseWriteConditions(request);
      await using content = await services.content.store({
        source: createBodySource(request),
        bucket,
        key: protection.key,
        kind: 'object',
        contentType,
      });
      const stored = await objects.put({ bucket, key, content, attributes, conditions, origin: originOf(request) });
      const url = publicUrl(management, request, bucket, encodeKey(key));
      return await reply
        .status(201)
        .send(envelope('Object stored', toStoredView({ bucket, key, contentType, stored, url })));
    },
  );
}

function registerDownload(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, objects } = services;

  app.route({
    method: ['GET', 'HEAD'],
    url: '/buckets/:name/objects/download',
    config: { action: 'object:read' },
    schema: {
      tags: TAGS,
      summary: 'Download an object or a range of it',
      description:
        'Sent as an attachment with its name, unless `inline=1`. Supports `Range`, `If-Range` and the conditional headers.',
      params: bucketParams,
      querystring: createQuerySchema({
        key: keyText,
        version_id: Type.Optional(versionIdText),
        inline: Type.Optional(Type.Union([Type.Literal('0'), Type.Literal('1')])),
      }),
      response: {
        200: { description: 'The object', content: { '*/*': { schema: HAS_BYTES } } },
        206: { description: 'The requested range', content: { '*/*': { schema: HAS_BYTES } } },
        304: { description: 'Not modified', type: 'null' },
      },
    },
    handler: async (request, reply) => {
      const { key, version_id: versionId, inline } = request.query;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      assertObjectKey(key);
      const found = await objects.find({ bucket, key, ...(versionId === undefined ? {} : { versionId }) });
      await sendObject(services, createExchange(request, reply), {
        bucket,
        found,
        // The caller of this route decides whether the browser saves or displays the bytes; the object does not.
        headers: { 'cache-control': 'private, no-cache', 'content-disposition': undefined },
        view: {
          reader: detectReader(request),
          disposition: inline === '1' ? 'inline' : 'attachment',
          embedders: 'same-origin',
        },
      });
    },
  });
}

/** The commit transaction checks these against the object's current version. */
function parseWriteConditions({ headers }: FastifyRequest): WriteConditions {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  return {
    ...(ifMatch === undefined ? {} : { ifMatch: parseTags(ifMatch) }),
    ...(ifNoneMatch === undefined ? {} : { ifNoneMatch: parseTags(ifNoneMatch) }),
  };
}
