import { Type } from 'typebox';

/** The `object_store.notifications` section of the configuration. */
export const notificationsConfigSchema = Type.Object(
  {
    allowed_networks: Type.Array(Type.String(), {
      default: [],
      maxItems: 1_000,
      description:
        'Non-public networks that webhooks may reach, such as `10.0.0.0/8` or `127.0.0.0/8`. Anyone who can ' +
        'configure a bucket can reach them',
    }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'Timeout of one delivery' }),
    retry_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 5,
      description:
        'First delay before a failed event is sent again; the delay doubles with each attempt, up to an hour',
    }),
    give_up_seconds: Type.Integer({
      minimum: 1,
      default: 86_400,
      description: 'Time after which an undelivered event fails; it stays visible and can be redelivered',
    }),
    keep_failed_days: Type.Integer({ minimum: 0, default: 7, description: 'Days that failed events are kept' }),
  },
  { default: {}, additionalProperties: false, description: 'Webhooks for changes of objects' },
);
