import type { BucketRecord } from '../../domain/ports/records.ts';

const MOST_KEPT = 1_024;

/**
 * Active buckets by name, as they were last read. Every request asks for its bucket, and here only one thread writes: what
 * is known holds until that thread says that it wrote a bucket, before whoever wrote it hears so.
 */
export class KnownBuckets {
  readonly #buckets = new Map<string, BucketRecord>();

  /** `read` is synchronous, so that nothing can be forgotten between it and the map. */
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
