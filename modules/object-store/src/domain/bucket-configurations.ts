import type { Clock } from '@svc/runtime';
import type { MetadataStore } from './ports/metadata-store.ts';
import type { BucketDocumentName, BucketRecord } from './ports/records.ts';

type Documents = Readonly<Partial<Record<BucketDocumentName, string>>>;

/** The documents of a bucket at one version, with their parsed forms cached. */
export class BucketConfiguration {
  readonly #documents: Documents;
  readonly #parsed = new Map<BucketDocumentName, unknown>();
  readonly #derived = new Map<string, unknown>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  text(name: BucketDocumentName): string | null {
    return this.#documents[name] ?? null;
  }

  /** Calls `parse` once per version of the documents. Each document must always use the same parser. */
  parsed<Shape>(name: BucketDocumentName, parse: (document: string) => Shape): Shape | null {
    const document = this.#documents[name];
    if (document === undefined) return null;
    if (!this.#parsed.has(name)) this.#parsed.set(name, parse(document));
    return this.#parsed.get(name) as Shape; // stored under this name by this parser
  }

  /**
   * Caches a value derived from several documents under its own name. Calls `derive` once per version of the documents.
   */
  derived<Shape>(name: string, derive: () => Shape): Shape {
    if (!this.#derived.has(name)) this.#derived.set(name, derive());
    return this.#derived.get(name) as Shape; // stored under this name by the same function
  }
}

const EMPTY = new BucketConfiguration({});
const MOST_KEPT = 1_024;

/**
 * Caches the documents in use. A bucket's row, which every request reads anyway, holds the current version, so no stale
 * document is ever used, whichever replica made the change.
 */
export class BucketConfigurations {
  readonly #metadata: Pick<MetadataStore, 'bucketDocuments' | 'putBucketDocument'>;
  readonly #clock: Clock;
  readonly #kept = new Map<number, { version: number; configuration: BucketConfiguration }>();

  constructor(metadata: Pick<MetadataStore, 'bucketDocuments' | 'putBucketDocument'>, clock: Clock) {
    this.#metadata = metadata;
    this.#clock = clock;
  }

  async of(bucket: BucketRecord): Promise<BucketConfiguration> {
    const version = bucket.configurationVersion;
    if (version === 0) return EMPTY;
    const known = this.#kept.get(bucket.id);
    if (known !== undefined && known.version === version) return known.configuration;
    // These documents may be newer than the row. Under the older version they are at most read once more.
    const configuration = new BucketConfiguration(await this.#metadata.bucketDocuments({ bucketId: bucket.id }));
    this.#kept.delete(bucket.id);
    this.#kept.set(bucket.id, { version, configuration });
    const oldest = this.#kept.size > MOST_KEPT ? this.#kept.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#kept.delete(oldest.value);
    return configuration;
  }

  /** Null removes the document. */
  async put(bucket: BucketRecord, name: BucketDocumentName, document: string | null): Promise<void> {
    await this.#metadata.putBucketDocument({ bucketId: bucket.id, name, document, nowMs: this.#clock.nowMs() });
  }
}
