import type { CallOptions } from '../transport.ts';
import type {
  AwsLifecycle,
  Bucket,
  BucketLocation,
  BucketSettings,
  BucketSettingsChange,
  BucketUrls,
  DeletedBucket,
  Lifecycle,
  NewBucket,
} from './bucket-types.ts';
import { bucketPath, type StoreTransport } from './envelope.ts';

/** Buckets and what is set on them. */
export class BucketsClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  async list(options: CallOptions = {}): Promise<Bucket[]> {
    const data = await this.#store.call<{ buckets: Bucket[] }>({ method: 'GET', path: '/buckets', ...options });
    return data.buckets;
  }

  create(bucket: NewBucket, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call({ method: 'POST', path: '/buckets', body: bucket, ...options });
  }

  /** Soft where the bucket's settings say so. Otherwise a bucket that is not empty is refused, unless forced. */
  delete(bucket: string, { force = false } = {}, options: CallOptions = {}): Promise<DeletedBucket> {
    const query = { force: force ? true : undefined };
    return this.#store.call({ method: 'DELETE', path: bucketPath(bucket), query, ...options });
  }

  /** Those that can still be restored. */
  async deleted(options: CallOptions = {}): Promise<DeletedBucket[]> {
    const path = '/buckets/deleted';
    const data = await this.#store.call<{ buckets: DeletedBucket[] }>({ method: 'GET', path, ...options });
    return data.buckets;
  }

  restore(bucket: string, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call({ method: 'POST', path: `${bucketPath(bucket)}/restore`, ...options });
  }

  settings(bucket: string, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call({ method: 'GET', path: `${bucketPath(bucket)}/settings`, ...options });
  }

  changeSettings(bucket: string, body: BucketSettingsChange, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call({ method: 'PUT', path: `${bucketPath(bucket)}/settings`, body, ...options });
  }

  async versioning(bucket: string, options: CallOptions = {}): Promise<string> {
    const path = `${bucketPath(bucket)}/versioning`;
    return (await this.#store.call<{ status: string }>({ method: 'GET', path, ...options })).status;
  }

  /** It can be suspended again, but never be as if it had not been. */
  async setVersioning(bucket: string, status: 'enabled' | 'suspended', options: CallOptions = {}): Promise<string> {
    const path = `${bucketPath(bucket)}/versioning`;
    return (await this.#store.call<{ status: string }>({ method: 'PUT', path, body: { status }, ...options })).status;
  }

  location(bucket: string, options: CallOptions = {}): Promise<BucketLocation> {
    return this.#store.call({ method: 'GET', path: `${bucketPath(bucket)}/location`, ...options });
  }

  lifecycle(bucket: string, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call({ method: 'GET', path: `${bucketPath(bucket)}/lifecycle`, ...options });
  }

  /** Replaces all rules. */
  setLifecycle(bucket: string, body: Lifecycle | AwsLifecycle, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call({ method: 'PUT', path: `${bucketPath(bucket)}/lifecycle`, body, ...options });
  }

  async removeLifecycle(bucket: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call({ method: 'DELETE', path: `${bucketPath(bucket)}/lifecycle`, ...options });
  }

  /** Every address under which the bucket can be read. */
  urls(bucket: string, options: CallOptions = {}): Promise<BucketUrls> {
    return this.#store.call({ method: 'GET', path: '/urls', query: { bucket }, ...options });
  }
}
