import type { CallOptions } from '../transport.ts';
import type { NotificationRule, Notifications, WebhookSecret, WebhookTest } from './bucket-types.ts';
import type { StoreTransport } from './envelope.ts';

/** Webhooks for changes to a bucket's objects. */
export class NotificationsClient {
  readonly #store: StoreTransport;
  readonly #named: { parameters: { name: string } };

  constructor(store: StoreTransport, bucket: string) {
    this.#store = store;
    this.#named = { parameters: { name: bucket } };
  }

  /** Returns the rules, the delivery state and the latest failed events. */
  get(options: CallOptions = {}): Promise<Notifications> {
    return this.#store.call('GET /buckets/{name}/notifications', { ...this.#named, ...options });
  }

  /** Replaces all rules; an empty list disables notifications. */
  set(rules: readonly NotificationRule[], options: CallOptions = {}): Promise<Notifications> {
    const body = { rules: [...rules] };
    return this.#store.call('PUT /buckets/{name}/notifications', { ...this.#named, body, ...options });
  }

  /** Sends a test event to the webhook of a rule (the first by default) and returns the outcome. */
  test(rule?: string, options: CallOptions = {}): Promise<WebhookTest> {
    return this.#store.call('POST /buckets/{name}/notifications/test', { ...this.#named, body: { rule }, ...options });
  }

  /** Retries failed events, all by default. Returns the number of events. */
  async redeliver(ids?: readonly number[], options: CallOptions = {}): Promise<number> {
    const body = ids === undefined ? {} : { ids: [...ids] };
    const request = { ...this.#named, body, ...options };
    return (await this.#store.call('POST /buckets/{name}/notifications/redeliver', request)).count;
  }

  /** Returns the secret that signs the bucket's webhooks. */
  secret(options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#store.call('GET /buckets/{name}/notifications/secret', { ...this.#named, ...options });
  }

  /** Creates a new secret. The previous one also signs for another day. */
  renewSecret(options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#store.call('POST /buckets/{name}/notifications/secret', { ...this.#named, ...options });
  }
}
