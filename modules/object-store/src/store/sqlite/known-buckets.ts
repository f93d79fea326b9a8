import type { BucketRecord } from '../../domain/ports/records.ts';

const MOST_KEPT = 1_024;

/**
 * Active buckets by name, as last read. Every request looks up its bucket, and only one thread writes: entries are
 * valid until that thread reports a write to a bucket, which happens before the writer gets its result.
 */
export class KnownBuckets {
  readonly #buckets = new Map<string, BucketRecord>();

  /** `read` is synchronous, so that no invalidation can happen before the result is stored. */
  find(name: string, read: () => BucketRecord | null): BucketRecord | null {
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const bucket = read();
    if (bucket === null) return null;
    if (this.#buckets.size >= MOST_KEPT) this.#buckets.clear();
    this.#buckets.set(name, bucket);
    return bucket;
  }

  forget(): void {
    this.#buckets.clear();
  }
}
