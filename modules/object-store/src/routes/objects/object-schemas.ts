import { Type, type Static } from 'typebox';
import { closed, nullableInteger, nullableText, nullableTimestamp, timestamp } from '../schemas.ts';

/** A key in a query or body: any UTF-8 up to 1,024 bytes. */
export const keyText = Type.String({ minLength: 1, maxLength: 1_024 });
export const versionIdText = Type.String({ minLength: 1, maxLength: 128 });
export const metadataRecord = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$" }),
  Type.String({ maxLength: 2_048 }),
  { maxProperties: 100, description: 'Stored with the object and returned as `x-amz-meta-*`' },
);
/** A header value. The pattern excludes line breaks, which would start another header. */
const headerText = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[ -~]+$' });
export const contentTypeText = headerText(255);
export const cacheControlText = headerText(255);

export const objectView = Type.Object({
  key: Type.String(),
  size: Type.Integer(),
  etag: Type.String({ description: 'Without quotes' }),
  last_modified: timestamp,
  content_type: Type.String(),
  storage_class: Type.String(),
  version_id: nullableText,
  public: Type.Boolean({ description: 'Whether the object is public, regardless of the bucket’s default' }),
});

export const storedView = Type.Object({
  key: Type.String(),
  size: Type.Integer(),
  etag: Type.String(),
  version_id: nullableText,
  checksum_crc64nvme: nullableText,
  content_type: Type.String(),
  last_modified: timestamp,
  url: Type.String({ description: 'URL of the object; works without credentials if the object is public' }),
});

export const listingView = Type.Object({
  objects: Type.Array(objectView),
  prefixes: Type.Array(Type.String()),
  cursor: nullableText,
  truncated: Type.Boolean(),
  key_count: Type.Integer(),
});

export const versionsView = Type.Object({
  versions: Type.Array(
    Type.Object({
      key: Type.String(),
      version_id: Type.String(),
      is_latest: Type.Boolean(),
      delete_marker: Type.Boolean(),
      size: Type.Integer(),
      etag: nullableText,
      last_modified: timestamp,
    }),
  ),
  prefixes: Type.Array(Type.String()),
  cursor: nullableText,
  truncated: Type.Boolean(),
});

export const deletedView = Type.Object({
  key: Type.String(),
  deleted: Type.Boolean(),
  delete_marker: Type.Boolean(),
  version_id: nullableText,
});

const MOST_KEYS = 1_000;

/** Either keys or objects with versions, but not both. */
export const deleteManyBody = Type.Object(
  {
    keys: Type.Optional(Type.Array(keyText, { minItems: 1, maxItems: MOST_KEYS })),
    objects: Type.Optional(
      Type.Array(Type.Object({ key: keyText, version_id: Type.Optional(versionIdText) }, closed), {
        minItems: 1,
        maxItems: MOST_KEYS,
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

export const deleteManyView = Type.Object({
  deleted: Type.Array(deletedView),
  errors: Type.Array(
    Type.Object({ key: Type.String(), version_id: nullableText, code: Type.String(), message: Type.String() }),
  ),
});

const presignMethod = Type.Union([Type.Literal('GET'), Type.Literal('PUT'), Type.Literal('DELETE')]);

export const presignBody = Type.Object(
  {
    key: Type.Optional(keyText),
    keys: Type.Optional(Type.Array(keyText, { minItems: 1, maxItems: 100 })),
    method: Type.Optional(presignMethod),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 604_800, description: 'Seconds; 900 by default' })),
    content_type: Type.Optional(contentTypeText),
    content_length: Type.Optional(Type.Integer({ minimum: 0 })),
    if_none_match: Type.Optional(Type.Boolean({ description: 'Fail the upload if the key exists' })),
    version_id: Type.Optional(versionIdText),
    multipart: Type.Optional(
      Type.Object(
        {
          parts: Type.Integer({ minimum: 1, maximum: 10_000 }),
          metadata: Type.Optional(metadataRecord),
          cache_control: Type.Optional(cacheControlText),
        },
        closed,
      ),
    ),
  },
  closed,
);

const presigned = {
  key: Type.String(),
  url: Type.String(),
  method: Type.String(),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Headers to send unchanged' }),
  expires_at: timestamp,
};
export const presignedUrl = Type.Object(presigned);
const uploadParts = Type.Array(Type.Object({ partNumber: Type.Integer(), url: Type.String() }));

/** A single URL's fields are at the top level. Several URLs are in `urls`, those of parts in `parts`. */
export const presignView = Type.Object({
  key: Type.Optional(Type.String()),
  url: Type.Optional(Type.String()),
  method: Type.Optional(Type.String()),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  expires_at: timestamp,
  urls: Type.Optional(Type.Array(presignedUrl)),
  uploadId: Type.Optional(Type.String()),
  parts: Type.Optional(uploadParts),
});

export const startUploadBody = Type.Object(
  {
    key: keyText,
    content_type: Type.Optional(contentTypeText),
    cache_control: Type.Optional(cacheControlText),
    metadata: Type.Optional(metadataRecord),
    public: Type.Optional(Type.Boolean()),
    size: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Total bytes, if known; used to recommend a part size' }),
    ),
  },
  closed,
);

export const startUploadView = Type.Object({
  uploadId: Type.String(),
  key: Type.String(),
  bucket: Type.String(),
  min_part_size: Type.Integer(),
  max_part_size: Type.Integer(),
  max_parts: Type.Integer(),
  recommended_part_size: Type.Integer(),
  initiated_at: timestamp,
});

export const partView = Type.Object({
  partNumber: Type.Integer(),
  etag: Type.String(),
  size: Type.Integer(),
  checksum_crc64nvme: nullableText,
  last_modified: nullableTimestamp,
});

export const completeBody = Type.Union([
  Type.Object(
    {
      parts: Type.Optional(
        Type.Array(
          Type.Object(
            { partNumber: Type.Integer({ minimum: 1, maximum: 10_000 }), etag: Type.String({ maxLength: 128 }) },
            closed,
          ),
          { minItems: 1, maxItems: 10_000, description: 'Default: all uploaded parts' },
        ),
      ),
    },
    closed,
  ),
  Type.Null(),
]);

export const uploadsView = Type.Object({
  uploads: Type.Array(
    Type.Object({ uploadId: Type.String(), key: Type.String(), initiated_at: timestamp, content_type: Type.String() }),
  ),
  prefixes: Type.Array(Type.String()),
  cursor: nullableText,
  truncated: Type.Boolean(),
});

export const partsView = Type.Object({
  uploadId: Type.String(),
  key: Type.String(),
  parts: Type.Array(partView),
  cursor: nullableInteger,
  truncated: Type.Boolean(),
});

export type ObjectView = Static<typeof objectView>;
export type StoredView = Static<typeof storedView>;
export type PresignBody = Static<typeof presignBody>;
export type PresignView = Static<typeof presignView>;
export type PartView = Static<typeof partView>;
