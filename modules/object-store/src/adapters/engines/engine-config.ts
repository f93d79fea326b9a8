import { Type, type Static } from 'typebox';

const MiB = 1024 * 1024;

/** `object_store.s3`: the engine that holds the bytes when `object_store.engine` is `s3`. */
export const s3EngineConfigSchema = Type.Object(
  {
    endpoint: Type.Optional(
      Type.String({ pattern: '^https?://[^/]+$', description: 'Base URL of the S3-compatible engine; default: AWS.' }),
    ),
    bucket: Type.Optional(Type.String({ minLength: 3, maxLength: 63, description: 'Bucket that holds the blobs.' })),
    region: Type.String({ default: 'us-east-1', minLength: 1, description: 'Region that requests are signed for.' }),
    prefix: Type.String({
      default: '',
      maxLength: 200,
      pattern: '^[A-Za-z0-9._/-]*$',
      description: 'In front of every key, so that several stores may share a bucket.',
    }),
    access_key_id: Type.Optional(Type.String({ minLength: 1, description: 'Access key at the engine.' })),
    secret_access_key: Type.Optional(Type.String({ secret: true, minLength: 1, description: 'Its secret.' })),
    path_style: Type.Boolean({ default: true, description: 'Address the bucket in the path, not in the host name.' }),
    connect_timeout_seconds: Type.Integer({ default: 3, minimum: 1, maximum: 60, description: 'For a connection.' }),
    request_timeout_seconds: Type.Integer({
      default: 30,
      minimum: 1,
      maximum: 600,
      description: 'For one request to the engine, and for silence while it sends a body.',
    }),
    attempts: Type.Integer({ default: 3, minimum: 1, maximum: 10, description: 'Of one request to the engine.' }),
    connections: Type.Integer({ default: 128, minimum: 1, maximum: 4_096, description: 'Most connections to it.' }),
    upload_memory_bytes: Type.Integer({
      default: 256 * MiB,
      minimum: 16 * MiB,
      description: 'Memory in which all uploads together gather parts; uploads beyond it wait.',
    }),
  },
  { default: {}, additionalProperties: false, description: 'The engine when `object_store.engine` is `s3`.' },
);

export type S3EngineConfig = Static<typeof s3EngineConfigSchema>;
