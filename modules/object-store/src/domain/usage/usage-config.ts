import { Type } from 'typebox';

/** The `object_store.usage` section of the configuration. */
export const usageConfigSchema = Type.Object(
  {
    interval_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 60,
      description:
        'What is stored, and what came and went, is written down this often. A crash loses no more of the counts of requests and of their bytes than came in this time.',
    }),
    hourly_days: Type.Integer({ minimum: 1, default: 31, description: 'Usage by the hour is kept this long.' }),
    daily_days: Type.Integer({ minimum: 1, default: 400, description: 'Usage by the day is kept this long.' }),
  },
  { default: {}, additionalProperties: false, description: 'Usage over time.' },
);
