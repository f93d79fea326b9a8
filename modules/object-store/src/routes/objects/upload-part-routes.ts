import { grantOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import type { UploadName } from '../../domain/multipart-service.ts';
import type { StoreServices } from '../../domain/services.ts';
import { countTraffic } from '../../s3/count-traffic.ts';
import { storeErrors } from '../../errors.ts';
import type { CompletedPart } from '../../domain/ports/upload-commands.ts';
import type { PartRecord, UploadRecord } from '../../domain/ports/records.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope, toTimestamp } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { createEnvelopeSchema, createQuerySchema, TAGS, teamQuery } from '../schemas.ts';
import { encodeKey, publicUrl } from '../url-routes.ts';
import { createBodySource } from './body-source.ts';
import { originOf } from './event-origin.ts';
import { completeBody, partsView, partView, storedView, type PartView } from './object-schemas.ts';
import { toStoredView } from './object-view.ts';
import { assertMayComplete } from './publish-rights.ts';

const uploadParams = Type.Object({
  workspace_uuid: Type.String({ format: 'uuid' }),
  name: Type.String({ minLength: 1, maxLength: 63 }),
  uploadId: Type.String({ minLength: 1, maxLength: 128 }),
});

const partParams = Type.Object({ ...uploadParams.properties, n: Type.Integer({ minimum: 1, maximum: 10_000 }) });

/** Routes of one multipart upload. */
export function registerUploadPartRoutes(app: HttpApp, management: ManagementDeps): void {
  registerPartList(app, management);
  registerComplete(app, management);
  registerAbort(app, management);
}

/** Takes the request body unparsed. */
export function registerPutPart(app: HttpApp, { services }: ManagementDeps): void {
  const { content: contentStore, multipart, encryption, deps } = services;

  app.put(
    '/buckets/:name/objects/multipart/:uploadId/parts/:n',
    {
      config: { action: 'object:write', auditResource: bucketResource, rawBody: true },
      bodyLimit: deps.config.limits.put_bytes,
      schema: {
        tags: TAGS,
        summary: 'Upload a part; the same number replaces it',
        consumes: ['application/octet-stream'],
        params: partParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(partView) },
      },
    },
    async (request, reply) => {
      const { upload, name } = await findUpload(services, request.params, grantOf(request).workspaceUuid);
      if (upload.completed) throw storeErrors.NoSuchUpload({ details: { uploadId: name.uploadId } });
      const partNumber = request.params.n;
      const source = createBodySource(request);
      countTraffic(services.traffic, name.bucket, request.raw, reply.raw);
      const key = await encryption.open(upload.attributes.encryption, null);
      await using content = await contentStore.store({ source, bucket: name.bucket, key, kind: 'part' });
      await multipart.putPart({ ...name, partNumber, content });
      const { sizeBytes, etag, checksum } = content;
      const modifiedAtMs = deps.clock.nowMs();
      return envelope('Part stored', toPartView({ partNumber, etag, sizeBytes, checksum, modifiedAtMs }));
    },
  );
}

function registerPartList(app: HttpApp, { services }: ManagementDeps): void {
  const mostParts = services.deps.config.limits.list_keys;

  app.get(
    '/buckets/:name/objects/multipart/:uploadId/parts',
    {
      config: { action: 'object:list' },
      schema: {
        tags: TAGS,
        summary: 'List the uploaded parts, to resume an upload',
        params: uploadParams,
        querystring: createQuerySchema({
          cursor: Type.Optional(Type.Integer({ minimum: 0, description: 'Part number to continue after' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostParts })),
        }),
        response: { 200: createEnvelopeSchema(partsView) },
      },
    },
    async (request) => {
      const { cursor: after = 0, limit = mostParts } = request.query;
      const { name } = await findUpload(services, request.params, grantOf(request).workspaceUuid);
      const found = await services.multipart.listParts(name, { after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const truncated = found.length > limit;
      return envelope('Parts', {
        uploadId: name.uploadId,
        key: name.key,
        parts: shown.map(toPartView),
        cursor: truncated ? (shown.at(-1)?.partNumber ?? null) : null,
        truncated,
      });
    },
  );
}

function registerComplete(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;

  app.post(
    '/buckets/:name/objects/multipart/:uploadId/complete',
    {
      config: { action: 'object:write', auditResource: bucketResource },
      bodyLimit: 2 * 1024 * 1024,
      schema: {
        tags: TAGS,
        summary: 'Complete a multipart upload; repeating the request returns the same response',
        params: uploadParams,
        querystring: teamQuery,
        body: completeBody,
        response: { 200: createEnvelopeSchema(storedView) },
      },
    },
    async (request) => {
      const { upload, name } = await findUpload(services, request.params, grantOf(request).workspaceUuid);
      // Repeating a completed upload publishes nothing new.
      if (!upload.completed) await assertMayComplete(upload, name.bucket, request, services.deps);
      const named = request.body?.parts;
      const parts = upload.completed ? [] : await partsToComplete(services, name, named);
      const stored = await services.multipart.complete({ ...name, parts, origin: originOf(request) });
      const { contentType } = upload.attributes;
      const { bucket, key } = name;
      return envelope(
        'Object stored',
        toStoredView({ bucket, key, contentType, stored, url: publicUrl(management, request, bucket, encodeKey(key)) }),
      );
    },
  );
}

function registerAbort(app: HttpApp, { services }: ManagementDeps): void {
  app.delete(
    '/buckets/:name/objects/multipart/:uploadId',
    {
      config: { action: 'object:write', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Abort a multipart upload; succeeds if it does not exist',
        params: uploadParams,
        querystring: teamQuery,
        response: { 200: createEnvelopeSchema(Type.Object({ uploadId: Type.String(), aborted: Type.Boolean() })) },
      },
    },
    async (request) => {
      const { uploadId, name: bucketName } = request.params;
      const bucket = await services.buckets.getOwn(bucketName, grantOf(request).workspaceUuid);
      const upload = await services.deps.metadata.findUploadById({ uploadId, bucketId: bucket.id });
      // A completed upload is an object by now and cannot be aborted.
      if (upload?.completed === true) throw storeErrors.NoSuchUpload({ details: { uploadId } });
      if (upload !== null) await services.multipart.abort({ bucket, key: upload.key, uploadId });
      return envelope('Upload given up', { uploadId, aborted: true });
    },
  );
}

async function findUpload(
  { buckets, deps }: StoreServices,
  { name: bucketName, uploadId }: Static<typeof uploadParams>,
  workspaceUuid: string,
): Promise<{ upload: UploadRecord & { completed: boolean }; name: UploadName }> {
  const bucket = await buckets.getOwn(bucketName, workspaceUuid);
  const upload = await deps.metadata.findUploadById({ uploadId, bucketId: bucket.id });
  if (upload === null) throw storeErrors.NoSuchUpload({ details: { uploadId } });
  return { upload, name: { bucket, key: upload.key, uploadId } };
}

/** The parts that the client names, or else all stored parts. */
async function partsToComplete(
  { multipart, deps }: StoreServices,
  name: UploadName,
  named: readonly { partNumber: number; etag: string }[] | undefined,
): Promise<readonly CompletedPart[]> {
  if (named !== undefined) {
    return named.map(({ partNumber, etag }) => ({ partNumber, etag: etag.replaceAll('"', '') }));
  }
  const found = await multipart.listParts(name, { after: 0, limit: deps.config.limits.parts });
  if (found.length > 0) return found.map(({ partNumber, etag }) => ({ partNumber, etag }));
  throw storeErrors.InvalidRequest({ details: { field: 'parts', reason: 'No part was uploaded' } });
}

function toPartView(part: PartRecord): PartView {
  return {
    partNumber: part.partNumber,
    etag: part.etag,
    size: part.sizeBytes,
    checksum_crc64nvme: part.checksum?.algorithm === 'CRC64NVME' ? part.checksum.value : null,
    last_modified: toTimestamp(part.modifiedAtMs),
  };
}
