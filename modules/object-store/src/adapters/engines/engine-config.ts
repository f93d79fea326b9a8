import { Type, type Static } from 'typebox';

const MiB = 1024 * 1024;

/** `object_store.s3`: the upstream engine used when `object_store.engine` is `s3`. */
export const s3EngineConfigSchema = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://[^/]+$',
        description: 'Base URL of the S3-compatible engine; defaults to AWS',
      }),
    ),
    bucket: Type.Optional(Type.String({ minLength: 3, maxLength: 63, description: 'Bucket that holds the blobs' })),
    region: Type.String({ default: 'us-east-1', minLength: 1, description: 'Region used to sign requests' }),
    prefix: Type.String({
      default: '',
      maxLength: 200,
      pattern: '^[A-Za-z0-9._/-]*$',
      description: 'Prefix of every key, so that several stores can share a bucket',
    }),
    access_key_id: Type.Optional(Type.String({ minLength: 1, description: 'Access key ID for the engine' })),
    secret_access_key: Type.Optional(
      Type.String({ secret: true, minLength: 1, description: 'Secret access key for the engine' }),
    ),
    path_style: Type.Boolean({ default: true, description: 'Use path-style URLs instead of virtual-host style' }),
    connect_timeout_seconds: Type.Integer({
      default: 3,
      minimum: 1,
      maximum: 60,
      description: 'Timeout for opening a connection',
    }),
    request_timeout_seconds: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 600,
      description: 'Timeout of one request to the engine, and of a pause in a response body',
    }),
    attempts: Type.Integer({
      default: 3,
      minimum: 1,
      maximum: 10,
      description: 'Maximum attempts for one request to the engine',
    }),
    connections: Type.Integer({
      default: 128,
      minimum: 1,
      maximum: 4_096,
      description: 'Maximum connections to the engine',
    }),
    upload_memory_bytes: Type.Integer({
      default: 256 * MiB,
      minimum: 16 * MiB,
      description: 'Memory for buffering parts of all uploads; further uploads wait',
    }),
    read_cache_bytes: Type.Integer({
      default: 256 * MiB,
      minimum: 0,
      description: 'Memory for objects of up to 1 MiB that are read repeatedly; 0 turns the cache off',
    }),
  },
  { default: {}, additionalProperties: false, description: 'The engine when `object_store.engine` is `s3`' },
);

export type S3EngineConfig = Static<typeof s3EngineConfigSchema>;
