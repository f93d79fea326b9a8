import type { CallOptions } from '../transport.ts';
import type { CustomDomain } from './access-types.ts';
import type { StoreTransport } from './envelope.ts';

/** Hostnames of one's own in front of buckets. */
export class DomainsClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  /** Of one bucket, or of all. */
  async list(bucket?: string, options: CallOptions = {}): Promise<CustomDomain[]> {
    return (await this.#store.call('GET /domains', { query: { bucket }, ...options })).domains;
  }

  /** The answer says what the hostname's CNAME must point to. */
  add(bucket: string, hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call('POST /domains', { body: { bucket, hostname }, ...options });
  }

  /** Has the platform look at the DNS now, at most once in ten seconds. */
  status(hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call('GET /domains/{hostname}/status', { parameters: { hostname }, ...options });
  }

  async remove(hostname: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /domains/{hostname}', { parameters: { hostname }, ...options });
  }
}
