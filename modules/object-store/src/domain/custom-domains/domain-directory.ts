import { isIP } from 'node:net';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { BucketRecord } from '../ports/records.ts';
import { hostnameOf, isBelow } from './hostname.ts';

export interface DomainDirectoryOptions {
  metadata: Pick<MetadataStore, 'findServedBucket'>;
  now: () => number;
  /** Names at or below which no custom domain can be: the look-up is spared. */
  ownSuffixes: () => readonly string[];
  /** How long a change made by another process can go unseen. */
  maxAgeMs?: number;
}

interface Entry {
  bucket: Promise<BucketRecord | null>;
  loadedAtMs: number;
}

const DEFAULT_MAX_AGE_MS = 500;
const MOST_KEPT = 4_096;

/** Which bucket a host name serves now. What is removed here is gone at once, elsewhere within the age. */
export class DomainDirectory {
  readonly #options: DomainDirectoryOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: DomainDirectoryOptions) {
    this.#options = options;
  }

  /** For the value of a `Host` header. */
  async bucketOf(hostHeader: string): Promise<BucketRecord | null> {
    const hostname = this.nameOf(hostHeader);
    return hostname === null ? null : await this.find(hostname);
  }

  /** Null for what can be no custom domain: addresses, single labels, the platform's own names. */
  nameOf(hostHeader: string): string | null {
    const hostname = hostnameOf(hostHeader);
    if (hostname === null || !hostname.includes('.') || isIP(hostname) !== 0) return null;
    return isBelow(hostname, this.#options.ownSuffixes()) ? null : hostname;
  }

  find(hostname: string): Promise<BucketRecord | null> {
    const { metadata, now, maxAgeMs = DEFAULT_MAX_AGE_MS } = this.#options;
    const known = this.#entries.get(hostname);
    const nowMs = now();
    if (known !== undefined && nowMs - known.loadedAtMs < maxAgeMs) return known.bucket;
    const entry = { bucket: metadata.findServedBucket({ hostname, nowMs }), loadedAtMs: nowMs };
    entry.bucket.catch(() => this.#entries.delete(hostname)); // whoever asked hears of it; the next one asks again
    this.#entries.delete(hostname);
    this.#entries.set(hostname, entry);
    const oldest = this.#entries.size > MOST_KEPT ? this.#entries.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#entries.delete(oldest.value);
    return entry.bucket;
  }

  forget(hostname: string): void {
    this.#entries.delete(hostname);
  }

  /** A bucket went or came back: few events, so all is looked up anew. */
  forgetAll(): void {
    this.#entries.clear();
  }
}
