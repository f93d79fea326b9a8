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
    const request = { method: 'GET', path: '/domains', query: { bucket }, ...options } as const;
    return (await this.#store.call<{ domains: CustomDomain[] }>(request)).domains;
  }

  /** The answer says what the hostname's CNAME must point to. */
  add(bucket: string, hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call({ method: 'POST', path: '/domains', body: { bucket, hostname }, ...options });
  }

  status(hostname: string, options: CallOptions = {}): Promise<CustomDomain> {
    return this.#store.call({ method: 'GET', path: `/domains/${encodeURIComponent(hostname)}/status`, ...options });
  }

  async remove(hostname: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call({ method: 'DELETE', path: `/domains/${encodeURIComponent(hostname)}`, ...options });
  }
}
