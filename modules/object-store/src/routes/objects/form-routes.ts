import type { Readable } from 'node:stream';
import { grantOf, readForm, type FormFile, type FormOptions, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { Check } from 'typebox/schema';
import { readBucketAccess } from '../../domain/access/bucket-access.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import type { StoreServices } from '../../domain/services.ts';
import { assertUploadAllowed, maxObjectBytes } from '../../domain/settings/upload-rules.ts';
import { countTraffic } from '../../s3/count-traffic.ts';
import { UnsizedUpload } from '../../domain/unsized-upload.ts';
import { storeErrors } from '../../errors.ts';
import type { EventOrigin } from '../../domain/ports/notifications.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { bucketResource } from '../audit-names.ts';
import { envelope } from '../envelope.ts';
import type { ManagementDeps } from '../management-deps.ts';
import { bucketParams, createEnvelopeSchema, TAGS, teamQuery } from '../schemas.ts';
import { encodeKey, publicUrl } from '../url-routes.ts';
import { originOf } from './event-origin.ts';
import { describedAttributes, invalidMetadata } from './object-attributes.ts';
import { cacheControlText, contentTypeText, metadataRecord, storedView } from './object-schemas.ts';
import { toStoredView } from './object-view.ts';
import { mayPublish } from './publish-rights.ts';

const FIELDS = ['key', 'prefix', 'content_type', 'cache_control', 'metadata', 'public'] as const;
type Fields = Partial<Record<(typeof FIELDS)[number], string>>;

const FORM: FormOptions = {
  malformed,
  incomplete: (cause) => storeErrors.IncompleteBody({ cause }),
  maxFiles: 20,
  maxFields: 32,
  maxFieldBytes: 64 * 1024,
};

interface Prepared {
  key: string;
  contentType: string;
  upload: UnsizedUpload;
}

/** Accepts files from browser forms. Stores a form as a whole, or nothing if it is malformed or cut off. */
export function registerFormRoutes(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;
  const { buckets, deps, uploadsInFlight } = services;

  app.post(
    '/buckets/:name/objects',
    {
      config: { action: 'object:write', auditResource: bucketResource, rawBody: true },
      bodyLimit: deps.config.limits.put_bytes,
      schema: {
        tags: TAGS,
        summary: 'Upload 1 to 20 files with a form',
        description:
          '`multipart/form-data` with the optional fields `key` (for one file) or `prefix`, `content_type`, ' +
          '`cache_control`, `metadata` (a JSON object) and `public` (`true` or `false`), followed by each file as ' +
          '`file`.',
        consumes: ['multipart/form-data'],
        params: bucketParams,
        querystring: teamQuery,
        response: { 201: createEnvelopeSchema(Type.Object({ objects: Type.Array(storedView) })) },
      },
    },
    async (request, reply) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      countTraffic(services.traffic, bucket, request.raw, reply.raw);
      const form = new UploadForm(services, {
        bucket,
        origin: originOf(request),
        mayPublish: (isPublic) => mayPublish(isPublic, request, deps),
      });
      const leave = await uploadsInFlight.enter(bucket.workspaceUuid);
      try {
        const files = await readForm(request.raw, form, FORM);
        if (files === 0) throw malformed('file', 'is missing');
        const objects = [];
        for (const { key, contentType, upload } of form.prepared) {
          objects.push(
            toStoredView({
              bucket,
              key,
              contentType,
              stored: await upload.commit(),
              url: publicUrl(management, request, bucket, encodeKey(key)),
            }),
          );
        }
        return await reply.status(201).send(envelope('Objects stored', { objects }));
      } catch (error) {
        await form.discard();
        throw error;
      } finally {
        leave();
      }
    },
  );
}

interface FormTarget {
  bucket: BucketRecord;
  origin: EventOrigin;
  mayPublish: (isPublic: boolean) => Promise<boolean>;
}

class UploadForm {
  readonly #services: StoreServices;
  readonly #target: FormTarget;
  readonly #fields: Fields = {};
  readonly prepared: Prepared[] = [];

  constructor(services: StoreServices, target: FormTarget) {
    this.#services = services;
    this.#target = target;
  }

  field(name: string, value: string): void {
    const known = FIELDS.find((field) => field === name);
    if (known === undefined) throw malformed(name.slice(0, 100), 'is unknown');
    if (this.#fields[known] !== undefined) throw malformed(name, 'appears twice');
    this.#fields[known] = value;
  }

  async file({ field, name, contentType: sentType, content }: FormFile): Promise<void> {
    if (field !== 'file') throw malformed(field.slice(0, 100), 'cannot be a file; use the field name `file` for files');
    const { key, prefix, content_type: givenType, cache_control: cacheControl } = this.#fields;
    if (key !== undefined && this.prepared.length > 0)
      throw malformed('key', 'is for one file; use prefix for several');
    const objectKey = key ?? `${prefix ?? ''}${name}`;
    if (objectKey === '' || (key === undefined && name === '')) throw malformed('file', 'has no name');
    assertObjectKey(objectKey);
    if (this.prepared.some((other) => other.key === objectKey))
      throw malformed('file', 'appears twice with the same name');
    const { bucket, origin, mayPublish: mayBePublished } = this.#target;
    const configuration = await this.#services.configurations.of(bucket);
    const { limits } = this.#services.deps.config;
    const described = {
      content_type: checked('content_type', contentTypeText, givenType ?? sentType),
      cache_control: cacheControl === undefined ? undefined : checked('cache_control', cacheControlText, cacheControl),
      metadata: readMetadata(this.#fields.metadata),
      public: readPublic(this.#fields.public),
    };
    const place = {
      bucket,
      access: readBucketAccess(bucket, configuration),
      mayPublish: await mayBePublished(described.public ?? false),
    };
    const protection = await defaultProtection(this.#services, bucket);
    const attributes = { ...protection.attributes, ...describedAttributes(described, limits.metadata_bytes, place) };
    assertUploadAllowed(configuration, { contentType: attributes.contentType });
    const upload = new UnsizedUpload(this.#services, {
      bucket,
      key: objectKey,
      attributes,
      contentKey: protection.key,
      origin,
      maxBytes: maxObjectBytes(configuration, limits.put_bytes),
    });
    this.prepared.push({ key: objectKey, contentType: attributes.contentType, upload });
    await pour(content, upload);
  }

  async discard(): Promise<void> {
    for (const { upload } of this.prepared) {
      try {
        await upload.discard();
      } catch (error) {
        this.#services.deps.log.warn(
          { err: error },
          'an interrupted upload could not be removed; the next cleanup retries',
        );
      }
    }
  }
}

async function pour(content: Readable, upload: UnsizedUpload): Promise<void> {
  for await (const chunk of content) await upload.write(chunk as Buffer); // no encoding is set, so chunks are buffers
  await upload.end();
}

function checked(field: string, schema: typeof contentTypeText, value: string): string {
  if (Check(schema, value)) return value;
  throw malformed(field, 'is not a valid header value');
}

function readMetadata(text: string | undefined): Record<string, string> | undefined {
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalidMetadata('The field metadata is not valid JSON');
  }
  if (!Check(metadataRecord, parsed)) throw invalidMetadata('The field metadata is no object of names and texts');
  return parsed;
}

function readPublic(text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw malformed('public', 'must be `true` or `false`');
}

function malformed(field: string, reason: string, cause?: unknown): Error {
  return storeErrors.InvalidRequest({ details: { field, reason: `The field ${field} ${reason}` }, cause });
}
