import { Type } from 'typebox';

/** The `object_store.notifications` section of the configuration. */
export const notificationsConfigSchema = Type.Object(
  {
    allowed_networks: Type.Array(Type.String(), {
      default: [],
      maxItems: 1_000,
      description:
        'Networks beside the public ones that webhooks may lead to, such as `10.0.0.0/8` or `127.0.0.0/8`. Whoever may configure a bucket reaches what is allowed here.',
    }),
    timeout_seconds: Type.Integer({ minimum: 1, maximum: 20, default: 10, description: 'A receiver answers within.' }),
    retry_seconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 5,
      description: 'An event that was not taken is sent again after this; then after twice as long, up to an hour.',
    }),
    give_up_seconds: Type.Integer({
      minimum: 1,
      default: 86_400,
      description: 'An event that nobody took for this long is given up; it stays visible and can be sent again.',
    }),
    keep_failed_days: Type.Integer({ minimum: 0, default: 7, description: 'Events that were given up are kept.' }),
  },
  { default: {}, additionalProperties: false, description: 'Webhooks for changes of objects.' },
);
