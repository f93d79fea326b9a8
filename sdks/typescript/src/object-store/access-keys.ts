import type { CallOptions } from '../transport.ts';
import type { AccessKey, CreatedAccessKey, NewAccessKey } from './access-types.ts';
import type { StoreTransport } from './envelope.ts';

/** Keys of the S3 data plane. */
export class AccessKeysClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  /** Members of a team see those that they made themselves. */
  async list(options: CallOptions = {}): Promise<AccessKey[]> {
    return (await this.#store.call('GET /keys', options)).keys;
  }

  /** The answer is the only one that ever holds the secret. */
  create(key: NewAccessKey = {}, options: CallOptions = {}): Promise<CreatedAccessKey> {
    return this.#store.call('POST /keys', { body: key, ...options });
  }

  /** From a second later on it opens nothing. */
  async revoke(accessKeyId: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /keys', { body: { accessKeyId }, ...options });
  }
}
