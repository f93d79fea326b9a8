import { Type } from 'typebox';
import { closed, nullableText, nullableTimestamp, timestamp } from './schemas.ts';

const eventPattern = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^s3:[A-Za-z]+:[A-Za-z*]+$',
  description: 'Such as `s3:ObjectCreated:*`',
});

const rule = {
  id: Type.String({ minLength: 1, maxLength: 255, description: 'Unique in the bucket' }),
  webhook: Type.String({
    minLength: 1,
    maxLength: 2_048,
    pattern: '^https?://',
    description: 'URL that receives the events',
  }),
  events: Type.Array(eventPattern, { minItems: 1, maxItems: 32 }),
};

export const notificationRules = Type.Object(
  {
    rules: Type.Array(
      Type.Object(
        {
          ...rule,
          enabled: Type.Optional(Type.Boolean({ default: true })),
          prefix: Type.Optional(Type.String({ maxLength: 1_024 })),
          suffix: Type.Optional(Type.String({ maxLength: 1_024 })),
        },
        closed,
      ),
      { maxItems: 100 },
    ),
  },
  closed,
);

const failed = Type.Object({
  id: Type.Integer(),
  rule: Type.String(),
  event: Type.String(),
  key: Type.String(),
  version_id: nullableText,
  occurred_at: timestamp,
  failed_at: timestamp,
  attempts: Type.Integer(),
  error: Type.String(),
});

export const notificationsView = Type.Object({
  rules: Type.Array(Type.Object({ ...rule, enabled: Type.Boolean(), prefix: Type.String(), suffix: Type.String() })),
  delivery: Type.Object({
    waiting: Type.Integer({ description: 'Events waiting for delivery, counted up to 10,000' }),
    oldest_waiting_at: nullableTimestamp,
    next_attempt_at: nullableTimestamp,
    last_error: nullableText,
    failed: Type.Integer({ description: 'Events that could not be delivered, counted up to 10,000' }),
  }),
  failed: Type.Array(failed, { description: 'The latest events that could not be delivered' }),
});

export const secretView = Type.Object({
  secret: Type.String({
    description: 'Secret that verifies signatures, in the Standard Webhooks format: `whsec_` and base64',
  }),
  previous_valid_until: nullableTimestamp,
});

export const testBody = Type.Object(
  { rule: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Default: the first rule' })) },
  closed,
);

export const testView = Type.Object({ delivered: Type.Boolean(), error: nullableText });

export const redeliverBody = Type.Object(
  {
    ids: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), {
        minItems: 1,
        maxItems: 1_000,
        description: 'Default: all failed events',
      }),
    ),
  },
  closed,
);

export const redeliverView = Type.Object({ count: Type.Integer() });
