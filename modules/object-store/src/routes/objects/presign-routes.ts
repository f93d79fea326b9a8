import type { Principal } from '@svc/access';
import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { objectPath, presignUrl, type SigningCredential, type UrlToPresign } from '@svc/s3-sign';
import { readBucketAccess } from '../../domain/access/bucket-access.ts';
import { assertMediaType } from '../../domain/content/media-type.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import { assertUploadAllowed } from '../../domain/settings/upload-rules.ts';
import { storeErrors } from '../../errors.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope, toTimestamp } from '../envelope.ts';
import { createKeyMaker } from '../key-maker.ts';
import { REGION, type ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, TAGS, teamQuery } from '../schemas.ts';
import { describedAttributes } from './object-attributes.ts';
import { presignBody, presignView, type PresignBody, type PresignView } from './object-schemas.ts';

const DEFAULT_EXPIRY_SECONDS = 900;

/** What all URLs of one request share. */
interface Signer {
  bucket: BucketRecord;
  credential: SigningCredential;
  endpoint: string;
  nowMs: number;
  expiresSeconds: number;
  body: PresignBody;
}

/** Presigns URLs with which a browser reads or writes objects on the S3 plane without its own credentials. */
export function registerPresignRoutes(app: HttpApp, management: ManagementDeps): void {
  const { services, s3Endpoint } = management;
  const { buckets, keys, configurations, deps } = services;

  app.post(
    '/buckets/:name/objects/presign',
    {
      // Anyone with the URL can use it, so even a read URL is more than a reader may share.
      config: { action: 'object:write', auditResource: bucketResource },
      schema: {
        tags: TAGS,
        summary: 'Presign a URL for one key, for up to 100, or for the parts of an upload',
        description:
          '`key` returns one URL, `keys` returns a list, and `key` with `multipart` starts an upload and returns a ' +
          'URL for each part. A URL grants no more than its creator may do at the time of use, and stops working ' +
          'when the token that created it ends.',
        params: bucketParams,
        querystring: teamQuery,
        body: presignBody,
        response: { 200: createEnvelopeSchema(presignView) },
      },
    },
    async (request) => {
      const { body } = request;
      const { workspaceUuid } = grantOf(request);
      const principal = principalOf(request);
      const wanted = readWanted(body, deps.config.limits.presign_seconds);
      const expiresSeconds = Math.min(wanted.expiresSeconds, secondsLeft(principal, deps.clock.nowMs()));
      const bucket = await buckets.getOwn(request.params.name, workspaceUuid);
      const configuration = await configurations.of(bucket);
      const { content_type: contentType, content_length: sizeBytes } = body;
      if (wanted.method === 'PUT') {
        if (contentType !== undefined) assertMediaType(contentType, 'content_type');
        assertUploadAllowed(configuration, {
          ...(contentType === undefined ? {} : { contentType }),
          ...(sizeBytes === undefined ? {} : { sizeBytes }),
        });
      }
      const presigning = await keys.presigning(workspaceUuid, createKeyMaker(principal));
      const signer: Signer = {
        bucket,
        credential: {
          accessKeyId: presigning.key.accessKeyId,
          region: REGION,
          signingKey: (date) => presigning.signingKey(date, REGION),
        },
        endpoint: s3Endpoint(),
        nowMs: deps.clock.nowMs(),
        expiresSeconds,
        body,
      };
      const expires = { expires_at: toTimestamp(signer.nowMs + expiresSeconds * 1_000) };
      if (body.multipart !== undefined) {
        const access = readBucketAccess(bucket, configuration);
        const described = { ...body.multipart, content_type: contentType };
        const protection = await defaultProtection(services, bucket);
        const attributes = {
          ...protection.attributes,
          ...describedAttributes(described, deps.config.limits.metadata_bytes, { bucket, access, mayPublish: false }),
        };
        const uploadId = await services.multipart.create({
          bucket,
          key: wanted.keys[0] ?? '',
          initiator: principal.id,
          attributes,
          checksumAlgorithm: 'CRC64NVME',
          checksumType: 'FULL_OBJECT',
        });
        return envelope('Upload begun', { ...presignParts(signer, wanted.keys[0] ?? '', uploadId), ...expires });
      }
      const urls = wanted.keys.map((key) => ({ ...presignOne(signer, key, wanted.method), ...expires }));
      const [only] = urls;
      if (body.keys !== undefined || only === undefined) return envelope('URLs presigned', { urls, ...expires });
      return envelope('URL presigned', only);
    },
  );
}

/** A URL ends with the token that creates it, so its stated lifetime takes that into account. */
function secondsLeft({ expiresAt }: Principal, nowMs: number): number {
  if (expiresAt === null) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor((Date.parse(expiresAt) - nowMs) / 1_000));
}

function readWanted(
  body: PresignBody,
  mostSeconds: number,
): { keys: readonly string[]; method: 'GET' | 'PUT' | 'DELETE'; expiresSeconds: number } {
  const { key, keys, method = 'PUT', expires_in: expiresSeconds = DEFAULT_EXPIRY_SECONDS } = body;
  if ((key === undefined) === (keys === undefined)) throw invalid('key', 'either `key` or `keys` is required');
  if (expiresSeconds > mostSeconds) throw invalid('expires_in', `must be at most ${mostSeconds}`);
  if (body.multipart !== undefined && (key === undefined || method !== 'PUT')) {
    throw invalid('multipart', 'requires one `key` and the method PUT');
  }
  const isUpload = method === 'PUT';
  for (const field of ['content_type', 'content_length', 'if_none_match'] as const) {
    if (!isUpload && body[field] !== undefined) throw invalid(field, 'is only for uploads');
  }
  if (isUpload && body.version_id !== undefined) throw invalid('version_id', 'is not allowed for an upload');
  const names = keys ?? [key ?? ''];
  for (const name of names) assertObjectKey(name);
  return { keys: names, method, expiresSeconds };
}

function presignKey(
  { bucket, credential, endpoint, nowMs, expiresSeconds }: Signer,
  key: string,
  operation: Pick<UrlToPresign, 'method' | 'parameters' | 'headers'>,
): string {
  const path = objectPath(bucket.name, key);
  return presignUrl({ ...operation, endpoint, path, expiresSeconds }, credential, nowMs);
}

function presignOne(signer: Signer, key: string, method: 'GET' | 'PUT' | 'DELETE') {
  const { body } = signer;
  const headers = {
    ...(body.content_type === undefined ? {} : { 'content-type': body.content_type }),
    ...(body.content_length === undefined ? {} : { 'content-length': String(body.content_length) }),
    ...(body.if_none_match === true ? { 'if-none-match': '*' } : {}),
  };
  const parameters = body.version_id === undefined ? [] : [{ name: 'versionId', value: body.version_id }];
  const url = presignKey(signer, key, { method, parameters, headers });
  return { key, url, method, headers };
}

function presignParts(signer: Signer, key: string, uploadId: string): Omit<PresignView, 'expires_at'> {
  const count = signer.body.multipart?.parts ?? 0;
  const parts = Array.from({ length: count }, (_, index) => {
    const partNumber = index + 1;
    const parameters = [
      { name: 'partNumber', value: String(partNumber) },
      { name: 'uploadId', value: uploadId },
    ];
    return { partNumber, url: presignKey(signer, key, { method: 'PUT', parameters }) };
  });
  return { uploadId, key, method: 'PUT', headers: {}, parts };
}

function invalid(field: string, reason: string): Error {
  return storeErrors.InvalidArgument({ details: { field, reason: `${field} ${reason}` } });
}
