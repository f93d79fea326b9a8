import type { CallOptions } from '../transport.ts';
import type { NotificationRule, Notifications, WebhookSecret, WebhookTest } from './bucket-types.ts';
import type { StoreTransport } from './envelope.ts';

/** Webhooks that follow changes of one bucket's objects. */
export class NotificationsClient {
  readonly #store: StoreTransport;
  readonly #named: { parameters: { name: string } };

  constructor(store: StoreTransport, bucket: string) {
    this.#store = store;
    this.#named = { parameters: { name: bucket } };
  }

  /** The rules, how delivery goes, and the latest events that were given up. */
  get(options: CallOptions = {}): Promise<Notifications> {
    return this.#store.call('GET /buckets/{name}/notifications', { ...this.#named, ...options });
  }

  /** Replaces all rules; none end all notifications. */
  set(rules: readonly NotificationRule[], options: CallOptions = {}): Promise<Notifications> {
    const body = { rules: [...rules] };
    return this.#store.call('PUT /buckets/{name}/notifications', { ...this.#named, body, ...options });
  }

  /** Sends a test event to the webhook of a rule, the first by default, and says what became of it. */
  test(rule?: string, options: CallOptions = {}): Promise<WebhookTest> {
    return this.#store.call('POST /buckets/{name}/notifications/test', { ...this.#named, body: { rule }, ...options });
  }

  /** Tries again what was given up, all of it by default; answers how many events that are. */
  async redeliver(ids?: readonly number[], options: CallOptions = {}): Promise<number> {
    const body = ids === undefined ? {} : { ids: [...ids] };
    const request = { ...this.#named, body, ...options };
    return (await this.#store.call('POST /buckets/{name}/notifications/redeliver', request)).count;
  }

  /** What signs the webhooks of the bucket. */
  secret(options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#store.call('GET /buckets/{name}/notifications/secret', { ...this.#named, ...options });
  }

  /** A new one; for a day the one before signs too. */
  renewSecret(options: CallOptions = {}): Promise<WebhookSecret> {
    return this.#store.call('POST /buckets/{name}/notifications/secret', { ...this.#named, ...options });
  }
}
