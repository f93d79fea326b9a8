import type { CallOptions } from '../transport.ts';
import type {
  Bucket,
  BucketDeletion,
  BucketFork,
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

const FORK_POLL_MS = 500;

/**
 * Buckets and their settings.
 *
 * @example
 * ```ts
 * await store.buckets.create({ name: 'photos' });
 * await store.buckets.setVersioning('photos', 'enabled');
 * ```
 */
export class BucketsClient {
  readonly #store: StoreTransport;

  constructor(store: StoreTransport) {
    this.#store = store;
  }

  /** Lists all buckets. */
  async list(options: CallOptions = {}): Promise<Bucket[]> {
    return (await this.#store.call('GET /buckets', options)).buckets;
  }

  /** Creates a bucket. The first one provisions the object store. */
  create(bucket: NewBucket, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call('POST /buckets', { body: bucket, ...options });
  }

  /** Deletes a bucket; it can be restored if its settings say so. A bucket with objects is refused unless forced. */
  delete(bucket: string, { force = false } = {}, options: CallOptions = {}): Promise<BucketDeletion> {
    const query = force ? { force } : {};
    return this.#store.call('DELETE /buckets/{name}', { ...named(bucket), query, ...options });
  }

  /** Lists deleted buckets that can be restored. */
  async deleted(options: CallOptions = {}): Promise<DeletedBucket[]> {
    return (await this.#store.call('GET /buckets/deleted', options)).buckets;
  }

  /** Restores a deleted bucket. */
  restore(bucket: string, options: CallOptions = {}): Promise<Bucket> {
    return this.#store.call('POST /buckets/{name}/restore', { ...named(bucket), ...options });
  }

  /**
   * Forks a bucket: creates one with its current objects, which share the stored bytes. Resolves once it is ready, or at
   * once with `wait: false`.
   */
  async fork(
    bucket: string,
    { name, wait = true }: { name?: string; wait?: boolean } = {},
    options: CallOptions = {},
  ): Promise<BucketFork> {
    const request = { ...named(bucket), query: wait ? {} : { wait_ms: 0 }, body: name === undefined ? {} : { name } };
    let fork = await this.#store.call('POST /buckets/{name}/fork', { ...request, ...options });
    if (!wait) return fork;
    while (fork.state === 'forking') {
      await new Promise((resolve) => setTimeout(resolve, FORK_POLL_MS));
      fork = await this.forkOf(fork.name, options);
    }
    return fork;
  }

  /** Returns the source and the progress of a bucket that was made as a fork. */
  forkOf(bucket: string, options: CallOptions = {}): Promise<BucketFork> {
    return this.#store.call('GET /buckets/{name}/fork', { ...named(bucket), ...options });
  }

  /** Returns the settings, with defaults filled in. */
  settings(bucket: string, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call('GET /buckets/{name}/settings', { ...named(bucket), ...options });
  }

  /** Changes settings. Absent fields stay unchanged; null restores the default. */
  changeSettings(bucket: string, body: BucketSettingsChange, options: CallOptions = {}): Promise<BucketSettings> {
    return this.#store.call('PUT /buckets/{name}/settings', { ...named(bucket), body, ...options });
  }

  /** Returns whether the bucket keeps versions. */
  async versioning(bucket: string, options: CallOptions = {}): Promise<VersioningStatus> {
    return (await this.#store.call('GET /buckets/{name}/versioning', { ...named(bucket), ...options })).status;
  }

  /** Enables or suspends versioning. Once enabled, it can be suspended but not removed. */
  async setVersioning(
    bucket: string,
    status: 'enabled' | 'suspended',
    options: CallOptions = {},
  ): Promise<VersioningStatus> {
    const request = { ...named(bucket), body: { status }, ...options };
    return (await this.#store.call('PUT /buckets/{name}/versioning', request)).status;
  }

  /** Returns the encryption of objects uploaded without encryption headers. */
  async encryption(bucket: string, options: CallOptions = {}): Promise<EncryptionMode> {
    return (await this.#store.call('GET /buckets/{name}/encryption', { ...named(bucket), ...options })).mode;
  }

  /** Sets the default encryption. Existing objects don't change. */
  async setEncryption(bucket: string, mode: EncryptionMode, options: CallOptions = {}): Promise<EncryptionMode> {
    const request = { ...named(bucket), body: { mode }, ...options };
    return (await this.#store.call('PUT /buckets/{name}/encryption', request)).mode;
  }

  /** Returns where the bucket is stored. */
  location(bucket: string, options: CallOptions = {}): Promise<BucketLocation> {
    return this.#store.call('GET /buckets/{name}/location', { ...named(bucket), ...options });
  }

  /** Returns the lifecycle rules. */
  lifecycle(bucket: string, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call('GET /buckets/{name}/lifecycle', { ...named(bucket), ...options });
  }

  /** Replaces all lifecycle rules. */
  setLifecycle(bucket: string, body: LifecycleChange, options: CallOptions = {}): Promise<Lifecycle> {
    return this.#store.call('PUT /buckets/{name}/lifecycle', { ...named(bucket), body, ...options });
  }

  /** Removes all lifecycle rules. */
  async removeLifecycle(bucket: string, options: CallOptions = {}): Promise<void> {
    await this.#store.call('DELETE /buckets/{name}/lifecycle', { ...named(bucket), ...options });
  }

  /** Returns the URLs of the bucket. */
  urls(bucket: string, options: CallOptions = {}): Promise<BucketUrls> {
    return this.#store.call('GET /urls', { query: { bucket }, ...options });
  }
}

function named(name: string): { parameters: { name: string } } {
  return { parameters: { name } };
}
