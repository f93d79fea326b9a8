import type { CallOptions } from '../transport.ts';
import type { CustomDomain } from './access-types.ts';
import type { StoreTransport } from './envelope.ts';

/**
 * Custom domains of buckets.
 *
 * @example
 * ```ts
 * const domain = await store.domains.add('photos', 'img.example.com');
 * console.log(domain.status);
 * ```
 */
export class DomainsClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  /** Lists the custom domains of a bucket, or of all buckets. */
  async list(bucket?: string, options: CallOptions = {}): Promise<CustomDomain[]> {
    return (await this.#store.call('GET /domains', { query: { bucket }, ...options })).domains;
  }

  /** Adds a custom domain. The response contains the target for its CNAME record. */
  add(bucket: string, hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call('POST /domains', { body: { bucket, hostname }, ...options });
  }

  /** Checks the DNS now, at most once every ten seconds, and returns the status. */
  status(hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call('GET /domains/{hostname}/status', { parameters: { hostname }, ...options });
  }

  /** Removes a custom domain, which stops serving immediately. */
  async remove(hostname: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /domains/{hostname}', { parameters: { hostname }, ...options });
  }
}
