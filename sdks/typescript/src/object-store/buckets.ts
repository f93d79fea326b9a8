import type { CallOptions } from '../transport.ts';
import type {
  Bucket,
  BucketDeletion,
  BucketLocation,
  BucketSettings,
  BucketSettingsChange,
  BucketUrls,
  DeletedBucket,
  Lifecycle,
  LifecycleChange,
  NewBucket,
  EncryptionMode,
  VersioningStatus,
} from './bucket-types.ts';
import type { StoreTransport } from './envelope.ts';

/** Buckets and what is set on them. */
export class BucketsClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  async list(options: CallOptions = {}): Promise<Bucket[]> {
    return (await this.#store.call('GET /buckets', options)).buckets;
  }

  create(bucket: NewBucket, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call('POST /buckets', { body: bucket, ...options });
  }

  /** Soft where the bucket's settings say so. Otherwise a bucket that is not empty is refused, unless forced. */
  delete(bucket: string, { force = false } = {}, options: CallOptions = {}): Promise<BucketDeletion> {
    const query = force ? { force } : {};
    return this.#store.call('DELETE /buckets/{name}', { ...named(bucket), query, ...options });
  }

  /** Those that can still be restored. */
  async deleted(options: CallOptions = {}): Promise<DeletedBucket[]> {
    return (await this.#store.call('GET /buckets/deleted', options)).buckets;
  }

  restore(bucket: string, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call('POST /buckets/{name}/restore', { ...named(bucket), ...options });
  }

  settings(bucket: string, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call('GET /buckets/{name}/settings', { ...named(bucket), ...options });
  }

  changeSettings(bucket: string, body: BucketSettingsChange, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call('PUT /buckets/{name}/settings', { ...named(bucket), body, ...options });
  }

  async versioning(bucket: string, options: CallOptions = {}): Promise<VersioningStatus> {
    return (await this.#store.call('GET /buckets/{name}/versioning', { ...named(bucket), ...options })).status;
  }

  /** It can be suspended again, but never be as if it had not been. */
  async setVersioning(
    bucket: string,
    status: 'enabled' | 'suspended',
    options: CallOptions = {},
  ): Promise<VersioningStatus> {
    const request = { ...named(bucket), body: { status }, ...options };
    return (await this.#store.call('PUT /buckets/{name}/versioning', request)).status;
  }

  /** How objects are encrypted that are uploaded without encryption headers. */
  async encryption(bucket: string, options: CallOptions = {}): Promise<EncryptionMode> {
    return (await this.#store.call('GET /buckets/{name}/encryption', { ...named(bucket), ...options })).mode;
  }

  /** Objects that are stored already stay as they are. */
  async setEncryption(bucket: string, mode: EncryptionMode, options: CallOptions = {}): Promise<EncryptionMode> {
    const request = { ...named(bucket), body: { mode }, ...options };
    return (await this.#store.call('PUT /buckets/{name}/encryption', request)).mode;
  }

  location(bucket: string, options: CallOptions = {}): Promise<BucketLocation> {
    return this.#store.call('GET /buckets/{name}/location', { ...named(bucket), ...options });
  }

  lifecycle(bucket: string, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call('GET /buckets/{name}/lifecycle', { ...named(bucket), ...options });
  }

  /** Replaces all rules. */
  setLifecycle(bucket: string, body: LifecycleChange, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call('PUT /buckets/{name}/lifecycle', { ...named(bucket), body, ...options });
  }

  async removeLifecycle(bucket: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /buckets/{name}/lifecycle', { ...named(bucket), ...options });
  }

  /** Every address under which the bucket can be read. */
  urls(bucket: string, options: CallOptions = {}): Promise<BucketUrls> {
    return this.#store.call('GET /urls', { query: { bucket }, ...options });
  }
}

function named(name: string): { parameters: { name: string } } {
  return { parameters: { name } };
}
