import type { CallOptions, Transport } from '../transport.ts';
import type { WorkspaceRef } from '../workspaces.ts';
import { AccessKeysClient } from './access-keys.ts';
import type { BodySender } from './body-sender.ts';
import type { StoreStatus } from './bucket-types.ts';
import { BucketsClient } from './buckets.ts';
import { DomainsClient } from './domains.ts';
import { StoreTransport } from './envelope.ts';
import { NotificationsClient } from './notifications.ts';
import { ObjectsClient } from './objects.ts';
import type { Usage, UsageQuery } from './usage-types.ts';

/**
 * The object store of one workspace.
 *
 * @example
 * ```ts
 * const store = svc.objectStore({ workspaceUuid });
 * await store.buckets.create({ name: 'photos' });
 * await store.objects('photos').upload('a.jpg', file, { onProgress });
 * ```
 */
export class ObjectStoreClient {
  /** Buckets and their settings. */
  readonly buckets: BucketsClient;
  /** Access keys of the S3 data plane. */
  readonly keys: AccessKeysClient;
  /** Custom domains of buckets. */
  readonly domains: DomainsClient;
  readonly #store: StoreTransport;
  readonly #tenant: string;

  constructor(transport: Transport, workspace: WorkspaceRef) {
    this.#store = new StoreTransport(transport, workspace);
    this.#tenant = workspace.workspaceUuid;
    this.buckets = new BucketsClient(this.#store);
    this.keys = new AccessKeysClient(this.#store);
    this.domains = new DomainsClient(this.#store);
  }

  /** Returns status, limits and usage of the store. */
  status(options: CallOptions = {}): Promise<StoreStatus> {
    return this.#store.call('GET /', options);
  }

  /** Returns the client of a bucket's webhooks. */
  notifications(bucket: string): NotificationsClient {
    return new NotificationsClient(this.#store, bucket);
  }

  /** Returns stored and transferred amounts over time, for the whole store or one bucket. */
  usage({ bucket, from, to, resolution }: UsageQuery = {}, options: CallOptions = {}): Promise<Usage> {
    const query = { bucket, from: from?.toISOString(), to: to?.toISOString(), resolution };
    return this.#store.call('GET /usage', { query, ...options });
  }

  /** Returns the client of a bucket's objects. `sender` sends the bytes of uploads; defaults to `fetch`. */
  objects(bucket: string, sender?: BodySender): ObjectsClient {
    return new ObjectsClient({ store: this.#store, bucket, tenant: this.#tenant, ...(sender && { sender }) });
  }
}
