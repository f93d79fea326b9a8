import type { Page } from '../accounts-types.ts';
import { pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type {
  CreatedWebhook,
  NewWebhook,
  Webhook,
  WebhookAttempt,
  WebhookChange,
  WebhookDelivery,
} from './sandbox-types.ts';

/**
 * Webhooks for events of the workspace's sandboxes. Requests are signed according to Standard Webhooks.
 *
 * @example
 * ```ts
 * const { secret } = await svc.sandboxes.webhooks.create({
 *   url: 'https://example.com/hook',
 *   events: ['created', 'deleted'],
 * });
 * ```
 */
export class WebhooksClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Creates a webhook that receives events from now on. Its secret is returned only once. */
  create(webhook: NewWebhook, options: CallOptions = {}): Promise<CreatedWebhook> {
    return this.#transport.call('POST', '/webhooks', { body: webhook, ...options });
  }

  /** Lists all webhooks, oldest first, without their secrets. */
  async list(options: CallOptions = {}): Promise<Webhook[]> {
    return (await this.#transport.call<{ webhooks: Webhook[] }>('GET', '/webhooks', options)).webhooks;
  }

  /** Returns a webhook and whether its receiver accepts events. */
  get(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#transport.call('GET', pathOf(id), options);
  }

  /** Changes a webhook. After it is enabled again, it receives new events only. */
  update(id: string, change: WebhookChange, options: CallOptions = {}): Promise<Webhook> {
    return this.#transport.call('PATCH', pathOf(id), { body: change, ...options });
  }

  /** Deletes a webhook and the record of its deliveries. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', pathOf(id), options);
  }

  /** Creates a new secret; the previous one also signs for one day. */
  rotateSecret(id: string, options: CallOptions = {}): Promise<{ secret: string; previous_valid_until: string }> {
    return this.#transport.call('POST', `${pathOf(id)}/secret`, options);
  }

  /** Sends an event of the type `test` now. Resolves with the result, also if the receiver refuses it. */
  test(id: string, options: CallOptions = {}): Promise<WebhookAttempt> {
    return this.#transport.call('POST', `${pathOf(id)}/test`, options);
  }

  /** Returns a page of the last deliveries, newest event first. */
  async deliveries(id: string, page: PageQuery = {}, options: CallOptions = {}): Promise<Page<WebhookDelivery>> {
    const answer = await this.#transport.call<{ deliveries: WebhookDelivery[]; next_cursor: string | null }>(
      'GET',
      `${pathOf(id)}/deliveries`,
      { query: pageParameters(page), ...options },
    );
    return { items: answer.deliveries, nextCursor: answer.next_cursor };
  }

  /** Sends a stored event again, now. Resolves with the result, also if the receiver refuses it. */
  redeliver(id: string, eventId: number, options: CallOptions = {}): Promise<WebhookAttempt> {
    return this.#transport.call('POST', `${pathOf(id)}/deliveries/${eventId}/redeliver`, options);
  }
}

function pathOf(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}
