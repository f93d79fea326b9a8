import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { readBucketAccess } from '../../domain/access/bucket-access.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import { assertUploadAllowed } from '../../domain/settings/upload-rules.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope, toTimestamp } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, createQuerySchema, TAGS, teamQuery } from '../schemas.ts';
import { describedAttributes } from './object-attributes.ts';
import { startUploadBody, startUploadView, uploadsView } from './object-schemas.ts';
import { registerUploadPartRoutes } from './upload-part-routes.ts';
import { mayPublish } from './publish-rights.ts';

const MiB = 1024 * 1024;
const USUAL_PART_BYTES = 16 * MiB;

/** Multipart uploads: start one, list open ones, and the routes of `upload-part-routes.ts`. */
export function registerUploadRoutes(app: HttpApp, management: ManagementDeps): void {
  registerStart(app, management);
  registerUploadList(app, management);
  registerUploadPartRoutes(app, management);
}

function registerStart(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, multipart, configurations, deps } = services;
  const { limits } = deps.config;

  app.post(
    '/buckets/:name/objects/multipart',
    {
      config: { action: 'object:write', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Start a multipart upload',
        params: bucketParams,
        querystring: teamQuery,
        body: startUploadBody,
        response: { 201: createEnvelopeSchema(startUploadView) },
      },
    },
    async (request, reply) => {
      const { key, size } = request.body;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      assertObjectKey(key);
      const configuration = await configurations.of(bucket);
      const place = {
        bucket,
        access: readBucketAccess(bucket, configuration),
        mayPublish: await mayPublish(request.body.public ?? false, request, deps),
      };
      const protection = await defaultProtection(services, bucket);
      const attributes = {
        ...protection.attributes,
        ...describedAttributes(request.body, limits.metadata_bytes, place),
      };
      const { contentType } = attributes;
      assertUploadAllowed(configuration, { contentType, ...(size === undefined ? {} : { sizeBytes: size }) });
      const uploadId = await multipart.create({
        bucket,
        key,
        initiator: principalOf(request).id,
        attributes,
        checksumAlgorithm: 'CRC64NVME',
        checksumType: 'FULL_OBJECT',
      });
      return await reply.status(201).send(
        envelope('Upload begun', {
          uploadId,
          key,
          bucket: bucket.name,
          min_part_size: limits.part_min_bytes,
          max_part_size: limits.put_bytes,
          max_parts: limits.parts,
          recommended_part_size: recommendedPartBytes(size ?? 0, limits),
          initiated_at: toTimestamp(deps.clock.nowMs()),
        }),
      );
    },
  );
}

/** The usual part size, or a larger one if the object would otherwise need too many parts. */
export function recommendedPartBytes(sizeBytes: number, limits: { parts: number; part_min_bytes: number }): number {
  const needed = Math.ceil(sizeBytes / limits.parts / MiB) * MiB;
  return Math.max(USUAL_PART_BYTES, limits.part_min_bytes, needed);
}

function registerUploadList(app: HttpApp, { services, cursors }: ManagementDeps): void {
  const { buckets, multipart, deps } = services;
  const mostUploads = deps.config.limits.list_keys;

  app.get(
    '/buckets/:name/objects/multipart',
    {
      config: { action: 'object:list' },
      schema: {
        tags: TAGS,
        summary: 'List unfinished multipart uploads',
        params: bucketParams,
        querystring: createQuerySchema({
          prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
          delimiter: Type.Optional(Type.String({ maxLength: 16 })),
          cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostUploads })),
        }),
        response: { 200: createEnvelopeSchema(uploadsView) },
      },
    },
    async (request) => {
      const { prefix = '', delimiter = '', cursor, limit = mostUploads } = request.query;
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const scope = `uploads/${bucket.id}`;
      const [afterKey = '', afterUploadId = ''] = cursor === undefined ? [] : cursors.open(scope, cursor);
      const page = await multipart.listUploads(bucket, { prefix, delimiter, afterKey, afterUploadId, limit });
      return envelope('Uploads', {
        uploads: page.uploads.map((upload) => ({
          uploadId: upload.uploadId,
          key: upload.key,
          initiated_at: toTimestamp(upload.initiatedAtMs),
          content_type: upload.attributes.contentType,
        })),
        prefixes: [...page.commonPrefixes],
        cursor: page.nextKey === null ? null : cursors.seal(scope, [page.nextKey, page.nextUploadId ?? '']),
        truncated: page.truncated,
      });
    },
  );
}
