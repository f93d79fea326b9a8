import { Type } from 'typebox';

/** The `object_store.usage` section of the configuration. */
export const usageConfigSchema = Type.Object(
  {
    interval_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 60,
      description:
        'Interval at which storage and traffic are recorded. A crash loses at most this much of the request and byte counts',
    }),
    hourly_days: Type.Integer({ minimum: 1, default: 31, description: 'Days that hourly usage is kept' }),
    daily_days: Type.Integer({ minimum: 1, default: 400, description: 'Days that daily usage is kept' }),
  },
  { default: {}, additionalProperties: false, description: 'Usage over time' },
);
