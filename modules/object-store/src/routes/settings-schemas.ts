import { nullable } from '@svc/http';
import { Type, type Static } from 'typebox';
import { closed, nullableInteger, nullableText } from './schemas.ts';

const sizeBytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const headerNames = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 });

const corsMethod = Type.Union([
  Type.Literal('GET'),
  Type.Literal('PUT'),
  Type.Literal('POST'),
  Type.Literal('DELETE'),
  Type.Literal('HEAD'),
]);

const corsRule = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    allowed_origins: Type.Array(Type.String({ minLength: 1, maxLength: 1_024 }), { minItems: 1, maxItems: 100 }),
    allowed_methods: Type.Array(corsMethod, { minItems: 1, maxItems: 5 }),
    allowed_headers: Type.Optional(headerNames),
    expose_headers: Type.Optional(headerNames),
    max_age_seconds: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }))),
  },
  closed,
);

const website = Type.Object(
  {
    index: Type.String({
      minLength: 1,
      maxLength: 1_024,
      pattern: '^[^/]+$',
      description: 'Name of the index document in each folder',
    }),
    error: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 1_024 }))),
  },
  closed,
);

const notifications = Type.Object(
  {
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'ID of the rule, if the bucket has several' }),
    ),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    webhook: Type.String({
      minLength: 1,
      maxLength: 2_048,
      pattern: '^https?://',
      description: 'URL that receives the events',
    }),
    events: Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^s3:[A-Za-z]+:[A-Za-z*]+$' }), {
      minItems: 1,
      maxItems: 32,
    }),
    prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
    suffix: Type.Optional(Type.String({ maxLength: 1_024 })),
  },
  closed,
);

/** An absent field stays unchanged; null resets it to the default. */
export const settingsBody = Type.Object(
  {
    publicDefault: Type.Optional(nullable(Type.Boolean())),
    cacheControl: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 255, pattern: '^[ -~]+$' }))),
    cors_rules: Type.Optional(nullable(Type.Array(corsRule, { maxItems: 100 }))),
    soft_delete: Type.Optional(
      nullable(
        Type.Object(
          {
            enabled: Type.Optional(nullable(Type.Boolean())),
            retention_days: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 90 }))),
          },
          closed,
        ),
      ),
    ),
    max_object_size: Type.Optional(nullable(sizeBytes)),
    allowed_content_types: Type.Optional(
      nullable(
        Type.Array(Type.String({ minLength: 3, maxLength: 255, pattern: '^[^/\\s;]+/[^/\\s;]+$' }), {
          minItems: 1,
          maxItems: 100,
        }),
      ),
    ),
    quota: Type.Optional(
      nullable(
        Type.Object(
          { max_bytes: Type.Optional(nullable(sizeBytes)), max_objects: Type.Optional(nullable(sizeBytes)) },
          closed,
        ),
      ),
    ),
    website: Type.Optional(nullable(website)),
    notifications: Type.Optional(nullable(notifications)),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const settingsView = Type.Object({
  publicDefault: Type.Boolean(),
  cacheControl: nullableText,
  cors_rules: Type.Array(
    Type.Object({
      id: Type.Optional(Type.String()),
      allowed_origins: Type.Array(Type.String()),
      allowed_methods: Type.Array(corsMethod),
      allowed_headers: Type.Array(Type.String()),
      expose_headers: Type.Array(Type.String()),
      max_age_seconds: nullableInteger,
    }),
  ),
  soft_delete: Type.Object({ enabled: Type.Boolean(), retention_days: Type.Integer() }),
  max_object_size: nullableInteger,
  allowed_content_types: nullable(Type.Array(Type.String())),
  quota: Type.Object({ max_bytes: nullableInteger, max_objects: nullableInteger }),
  website: nullable(Type.Object({ index: Type.String(), error: nullableText })),
  notifications: nullable(
    Type.Object({
      id: Type.String(),
      enabled: Type.Boolean(),
      webhook: Type.String(),
      events: Type.Array(Type.String()),
      prefix: Type.String(),
      suffix: Type.String(),
    }),
  ),
});

export type SettingsBody = Static<typeof settingsBody>;
export type SettingsView = Static<typeof settingsView>;
