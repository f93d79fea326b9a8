import { Type, type Static } from 'typebox';
import { s3EngineConfigSchema } from './adapters/engines/engine-config.ts';
import { notificationsConfigSchema } from './domain/notifications/notifications-config.ts';
import { keyServiceConfigSchema } from './domain/secrets/key-service-config.ts';
import { usageConfigSchema } from './domain/usage/usage-config.ts';
import { customDomainsConfigSchema } from './domain/custom-domains/custom-domains-config.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

function bounded(defaultValue: number, description: string, minimum = 1): ReturnType<typeof Type.Integer> {
  return Type.Integer({ minimum, default: defaultValue, description });
}

/** The `object_store` section of the configuration. */
export const objectStoreConfigSchema = Type.Object(
  {
    regions: Type.Array(Type.String(), {
      default: ['auto', 'us-east-1', ''],
      description: 'Regions accepted in signatures; responses show the first one',
    }),
    domains: Type.Array(Type.String(), {
      default: ['s3.localhost'],
      description: 'Domains for virtual-host style requests: `<bucket>.<domain>`',
    }),
    website_domains: Type.Array(Type.String(), {
      default: ['web.localhost'],
      description: 'Domains for bucket websites: `<bucket>.<domain>` serves a bucket that has a website configuration',
    }),
    public_objects: Type.Object(
      {
        domain: Type.String({
          default: 'objects.localhost',
          pattern: String.raw`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+)?$`,
          description:
            'Domain that gives each bucket a separate hostname for its public objects. Its subdomains must resolve ' +
            'to the platform, and it must not share a parent domain with your other sites. Empty: public objects are ' +
            'served on the API host',
        }),
      },
      { default: {}, additionalProperties: false, description: 'Public objects' },
    ),
    master_key: Type.Optional(
      Type.String({
        secret: true,
        env: 'SVC_MASTER_KEY',
        description:
          'Master key that wraps all other keys: 32 bytes in hex or base64, the same on every replica; default: a ' +
          'generated key file',
      }),
    ),
    master_key_previous: Type.Optional(
      Type.String({
        secret: true,
        env: 'SVC_MASTER_KEY_PREVIOUS',
        description: 'Previous master key, used only to decrypt; needed until `svc admin rotate-keys --master` has run',
      }),
    ),
    key_service: keyServiceConfigSchema,
    default_encryption: Type.Union([Type.Literal('sse-s3'), Type.Literal('none')], {
      default: 'sse-s3',
      description: 'Default encryption of new buckets; existing buckets do not change',
    }),
    kms_key_ids: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
      default: [],
      description: 'Accepted key IDs for `aws:kms`. Each binds the key ring to its name; other key IDs are refused',
    }),
    sse_c_requires_tls: Type.Boolean({
      default: false,
      description: 'Refuse customer-provided keys (SSE-C) over plain HTTP',
    }),
    engine: Type.Union([Type.Literal('embedded'), Type.Literal('s3')], {
      default: 'embedded',
      description: 'Storage for object data: files in the data folder, or an S3-compatible engine',
    }),
    s3: s3EngineConfigSchema,
    inline_max_bytes: bounded(64 * 1024, 'Maximum size of objects stored in the database', 0),
    trash_grace_seconds: bounded(3_600, 'Delay before the data of deleted objects is removed', 0),
    sweep_grace_seconds: bounded(3_600, 'Age at which blobs without a database row are removed', 0),
    scrub: Type.Object(
      {
        enabled: Type.Boolean({ default: true, description: 'Continuously verify stored data against its checksums' }),
        cycle_days: bounded(30, 'Days in which all stored data is verified once'),
        bytes_per_second: bounded(16 * MiB, 'Maximum bytes per second read for verification', MiB),
      },
      { default: {}, additionalProperties: false, description: 'Verification of stored data' },
    ),
    soft_delete_days: Type.Integer({
      minimum: 1,
      maximum: 90,
      default: 7,
      description: 'Days during which a deleted bucket can be restored',
    }),
    custom_domains: customDomainsConfigSchema,
    lifecycle: Type.Object(
      {
        interval_seconds: bounded(3_600, 'Interval between runs of the lifecycle rules'),
        day_seconds: bounded(
          86_400,
          'Length of a day in lifecycle rules, for tests and trials only; rules then run at least five times per such day',
        ),
      },
      { default: {}, additionalProperties: false, description: 'Lifecycle rules' },
    ),
    notifications: notificationsConfigSchema,
    usage: usageConfigSchema,
    limits: Type.Object(
      {
        buckets_per_workspace: bounded(1_000, 'Maximum buckets per workspace'),
        keys_per_workspace: bounded(500, 'Maximum access keys per workspace'),
        object_bytes: bounded(5 * 1024 * GiB, 'Maximum object size'),
        put_bytes: bounded(5 * GiB, 'Maximum size of a single upload or part'),
        part_min_bytes: bounded(5 * MiB, 'Minimum size of a part, except the last', 0),
        parts: bounded(10_000, 'Maximum parts per upload'),
        metadata_bytes: bounded(2_048, 'Maximum bytes of user metadata per object'),
        presign_seconds: bounded(604_800, 'Maximum lifetime of a presigned URL'),
        list_keys: bounded(1_000, 'Maximum entries per page'),
        management_requests_per_second: bounded(
          50,
          'Management API requests per second and bucket; further requests get SlowDown',
        ),
        uploads_in_flight: bounded(1_024, 'Maximum concurrent uploads; further uploads get SlowDown'),
      },
      { default: {}, additionalProperties: false, description: 'Limits; the store status shows all of them' },
    ),
  },
  { default: {}, additionalProperties: false },
);

export type ObjectStoreConfig = Static<typeof objectStoreConfigSchema>;
export type ObjectStoreLimits = ObjectStoreConfig['limits'];
