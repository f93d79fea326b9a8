import { nullable } from '@svc/http';
import { Type, type Static } from 'typebox';
import { closed } from './schemas.ts';

const days = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const sizeBytes = Type.Integer({ minimum: 0 });
const ruleId = Type.String({ minLength: 1, maxLength: 255 });
const tags = Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Type.String({ maxLength: 256 }), {
  maxProperties: 10,
});
/** An age in seconds, in R2's form. */
const age = Type.Object(
  {
    condition: Type.Object(
      { type: Type.Literal('Age'), maxAge: Type.Integer({ minimum: 86_400, description: 'Seconds' }) },
      closed,
    ),
  },
  closed,
);

const filter = Type.Object(
  {
    prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
    tags: Type.Optional(tags),
    size_greater_than: Type.Optional(nullable(sizeBytes)),
    size_less_than: Type.Optional(nullable(sizeBytes)),
  },
  closed,
);

const expiration = Type.Object(
  {
    days: Type.Optional(days),
    date: Type.Optional(Type.String({ format: 'date-time', description: 'Midnight in UTC' })),
    expired_object_delete_marker: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

const noncurrent = Type.Object(
  { days, newer_versions: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 100 }))) },
  closed,
);
const abort = Type.Object({ days }, closed);

/** A rule in our form; `conditions` and the two transitions are R2's form of the same. */
const rule = Type.Object(
  {
    id: Type.Optional(ruleId),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    filter: Type.Optional(nullable(filter)),
    expiration: Type.Optional(nullable(expiration)),
    noncurrent_version_expiration: Type.Optional(nullable(noncurrent)),
    abort_incomplete_multipart_upload: Type.Optional(nullable(abort)),
    conditions: Type.Optional(Type.Object({ prefix: Type.Optional(Type.String({ maxLength: 1_024 })) }, closed)),
    deleteObjectsTransition: Type.Optional(age),
    abortMultipartUploadsTransition: Type.Optional(age),
  },
  closed,
);

const awsTag = Type.Object(
  { Key: Type.String({ minLength: 1, maxLength: 128 }), Value: Type.String({ maxLength: 256 }) },
  closed,
);
const awsSizes = {
  Prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
  ObjectSizeGreaterThan: Type.Optional(sizeBytes),
  ObjectSizeLessThan: Type.Optional(sizeBytes),
};

/** A rule in the form of `aws s3api put-bucket-lifecycle-configuration`. */
const awsRule = Type.Object(
  {
    ID: Type.Optional(ruleId),
    Status: Type.Union([Type.Literal('Enabled'), Type.Literal('Disabled')]),
    Prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
    Filter: Type.Optional(
      Type.Object(
        {
          ...awsSizes,
          Tag: Type.Optional(awsTag),
          And: Type.Optional(
            Type.Object({ ...awsSizes, Tags: Type.Optional(Type.Array(awsTag, { maxItems: 10 })) }, closed),
          ),
        },
        closed,
      ),
    ),
    Expiration: Type.Optional(
      Type.Object(
        {
          Days: Type.Optional(days),
          Date: Type.Optional(Type.String({ format: 'date-time' })),
          ExpiredObjectDeleteMarker: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    NoncurrentVersionExpiration: Type.Optional(
      Type.Object(
        { NoncurrentDays: days, NewerNoncurrentVersions: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })) },
        closed,
      ),
    ),
    AbortIncompleteMultipartUpload: Type.Optional(Type.Object({ DaysAfterInitiation: days }, closed)),
  },
  closed,
);

const MOST_RULES = 1_000;

export const lifecycleBody = Type.Object(
  {
    rules: Type.Optional(Type.Array(rule, { maxItems: MOST_RULES })),
    Rules: Type.Optional(Type.Array(awsRule, { maxItems: MOST_RULES })),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

export const lifecycleView = Type.Object({
  rules: Type.Array(
    Type.Object({
      id: Type.String(),
      enabled: Type.Boolean(),
      filter: Type.Object({
        prefix: Type.String(),
        tags: Type.Record(Type.String(), Type.String()),
        size_greater_than: nullable(Type.Integer()),
        size_less_than: nullable(Type.Integer()),
      }),
      expiration: nullable(
        Type.Object({
          days: Type.Optional(Type.Integer()),
          date: Type.Optional(Type.String()),
          expired_object_delete_marker: Type.Optional(Type.Literal(true)),
        }),
      ),
      noncurrent_version_expiration: nullable(
        Type.Object({ days: Type.Integer(), newer_versions: nullable(Type.Integer()) }),
      ),
      abort_incomplete_multipart_upload: nullable(Type.Object({ days: Type.Integer() })),
    }),
  ),
});

export type LifecycleBody = Static<typeof lifecycleBody>;
export type RuleBody = Static<typeof rule>;
export type AwsRuleBody = Static<typeof awsRule>;
export type LifecycleView = Static<typeof lifecycleView>;
