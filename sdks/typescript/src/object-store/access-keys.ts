import type { CallOptions } from '../transport.ts';
import type { AccessKey, CreatedAccessKey, NewAccessKey } from './access-types.ts';
import type { StoreTransport } from './envelope.ts';

/**
 * Access keys of the S3 data plane.
 *
 * @example
 * ```ts
 * const key = await store.keys.create();
 * console.log(key.accessKeyId, key.secretAccessKey);
 * ```
 */
export class AccessKeysClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  /** Lists access keys without secrets. Team members see only the keys they created. */
  async list(options: CallOptions = {}): Promise<AccessKey[]> {
    return (await this.#store.call('GET /keys', options)).keys;
  }

  /** Creates an access key. The secret is in this response only. */
  create(key: NewAccessKey = {}, options: CallOptions = {}): Promise<CreatedAccessKey> {
    return this.#store.call('POST /keys', { body: key, ...options });
  }

  /** Revokes an access key, within one second. */
  async revoke(accessKeyId: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /keys', { body: { accessKeyId }, ...options });
  }
}
