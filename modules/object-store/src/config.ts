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

/** The slice `object_store` of the configuration. */
export const objectStoreConfigSchema = Type.Object(
  {
    regions: Type.Array(Type.String(), {
      default: ['auto', 'us-east-1', ''],
      description: 'Regions that a signature may name. The first is the one that answers show.',
    }),
    domains: Type.Array(Type.String(), {
      default: ['s3.localhost'],
      description: 'Host names below which `<bucket>.<name>` addresses a bucket (virtual-host style).',
    }),
    website_domains: Type.Array(Type.String(), {
      default: ['web.localhost'],
      description: 'Host names below which `<bucket>.<name>` shows a bucket with a website configuration to browsers.',
    }),
    public_objects: Type.Object(
      {
        domain: Type.String({
          default: 'objects.localhost',
          pattern: String.raw`^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+)?$`,
          description:
            'Domain below which each bucket has a name of its own for its public objects; its names lead to the platform, and it shares no parent domain with other sites of yours. Empty: they are served on the host of the API.',
        }),
      },
      { default: {}, additionalProperties: false, description: 'Public objects.' },
    ),
    master_key: Type.Optional(
      Type.String({
        secret: true,
        env: 'SVC_MASTER_KEY',
        description:
          'Key of 32 bytes (hex or base64) that wraps all other keys, the same on every replica; default: a file of its own.',
      }),
    ),
    master_key_previous: Type.Optional(
      Type.String({
        secret: true,
        env: 'SVC_MASTER_KEY_PREVIOUS',
        description: 'The master key from before, until `svc admin rotate-keys --master` has run. It only opens.',
      }),
    ),
    key_service: keyServiceConfigSchema,
    default_encryption: Type.Union([Type.Literal('sse-s3'), Type.Literal('none')], {
      default: 'sse-s3',
      description: 'Encryption of new buckets. Buckets that exist keep theirs.',
    }),
    kms_key_ids: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
      default: [],
      description: 'Names of keys for `aws:kms`. Each is the key ring bound to that name; other names are refused.',
    }),
    sse_c_requires_tls: Type.Boolean({
      default: false,
      description: 'Refuse keys of customers (SSE-C) that come over plain HTTP.',
    }),
    engine: Type.Union([Type.Literal('embedded'), Type.Literal('s3')], {
      default: 'embedded',
      description: 'Where the bytes of objects are kept: files in the data folder, or an S3-compatible engine.',
    }),
    s3: s3EngineConfigSchema,
    inline_max_bytes: bounded(64 * 1024, 'Objects up to this size are stored in the database.', 0),
    trash_grace_seconds: bounded(3_600, 'Bytes of deleted objects are removed this long after.', 0),
    sweep_grace_seconds: bounded(3_600, 'Blobs that no row knows are removed when they are this old.', 0),
    scrub: Type.Object(
      {
        enabled: Type.Boolean({ default: true, description: 'Verify stored bytes against their checksums, for ever.' }),
        cycle_days: bounded(30, 'Everything is verified once in this many days.'),
        bytes_per_second: bounded(16 * MiB, 'Most bytes that are read for it in a second.', MiB),
      },
      { default: {}, additionalProperties: false, description: 'Verification of stored bytes.' },
    ),
    soft_delete_days: Type.Integer({
      minimum: 1,
      maximum: 90,
      default: 7,
      description: 'A deleted bucket can be restored for this long.',
    }),
    custom_domains: customDomainsConfigSchema,
    lifecycle: Type.Object(
      {
        interval_seconds: bounded(3_600, 'Lifecycle rules of buckets are carried out this often.'),
        day_seconds: bounded(
          86_400,
          'How long a day of lifecycle rules lasts. A switch for tests and trials: rules then run at least five times a day.',
        ),
      },
      { default: {}, additionalProperties: false, description: 'Lifecycle rules.' },
    ),
    notifications: notificationsConfigSchema,
    usage: usageConfigSchema,
    limits: Type.Object(
      {
        buckets_per_workspace: bounded(1_000, 'Most buckets of a workspace.'),
        keys_per_workspace: bounded(500, 'Most access keys of a workspace.'),
        object_bytes: bounded(5 * 1024 * GiB, 'Largest object.'),
        put_bytes: bounded(5 * GiB, 'Largest single upload, or part of one.'),
        part_min_bytes: bounded(5 * MiB, 'Smallest part but the last.', 0),
        parts: bounded(10_000, 'Most parts of an upload.'),
        metadata_bytes: bounded(2_048, 'Most bytes of user metadata of an object.'),
        presign_seconds: bounded(604_800, 'Longest validity of a presigned URL.'),
        list_keys: bounded(1_000, 'Most entries of one page.'),
        management_requests_per_second: bounded(50, 'Calls of the management API about one bucket; more get SlowDown.'),
        uploads_in_flight: bounded(1_024, 'Bodies that are received at the same time; more get SlowDown.'),
      },
      { default: {}, additionalProperties: false, description: 'Limits; all of them are shown in the store status.' },
    ),
  },
  { default: {}, additionalProperties: false },
);

export type ObjectStoreConfig = Static<typeof objectStoreConfigSchema>;
export type ObjectStoreLimits = ObjectStoreConfig['limits'];
