import { isIP } from 'node:net';
import type { Clock } from '@svc/runtime';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { BucketRecord } from '../ports/records.ts';
import { parseHostname, isBelow } from './hostname.ts';

export interface DomainDirectoryOptions {
  metadata: Pick<MetadataStore, 'findServedBucket'>;
  clock: Clock;
  /** Names at or below these cannot be custom domains, so they skip the lookup. */
  ownSuffixes: () => readonly string[];
  /** How long a change made by another process can go unnoticed. */
  maxAgeMs?: number;
}

interface Entry {
  bucket: Promise<BucketRecord | null>;
  loadedAtMs: number;
}

const DEFAULT_MAX_AGE_MS = 500;
const MOST_KEPT = 4_096;

/**
 * Finds the bucket that a hostname serves. Removals in this process take effect at once, others within the maximum
 * age.
 */
export class DomainDirectory {
  readonly #options: DomainDirectoryOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: DomainDirectoryOptions) {
    this.#options = options;
  }

  /** Takes the value of a `Host` header. */
  async findBucket(hostHeader: string): Promise<BucketRecord | null> {
    const hostname = this.parseName(hostHeader);
    return hostname === null ? null : await this.find(hostname);
  }

  /** Null for names that cannot be custom domains: addresses, single labels, the platform's own names. */
  parseName(hostHeader: string): string | null {
    const hostname = parseHostname(hostHeader);
    if (hostname === null || !hostname.includes('.') || isIP(hostname) !== 0) return null;
    return isBelow(hostname, this.#options.ownSuffixes()) ? null : hostname;
  }

  find(hostname: string): Promise<BucketRecord | null> {
    const { metadata, clock, maxAgeMs = DEFAULT_MAX_AGE_MS } = this.#options;
    const known = this.#entries.get(hostname);
    const nowMs = clock.nowMs();
    if (known !== undefined && nowMs - known.loadedAtMs < maxAgeMs) return known.bucket;
    const entry = { bucket: metadata.findServedBucket({ hostname, nowMs }), loadedAtMs: nowMs };
    entry.bucket.catch(() => this.#entries.delete(hostname)); // the caller gets the error; the next call retries
    this.#entries.delete(hostname);
    this.#entries.set(hostname, entry);
    const oldest = this.#entries.size > MOST_KEPT ? this.#entries.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#entries.delete(oldest.value);
    return entry.bucket;
  }

  forget(hostname: string): void {
    this.#entries.delete(hostname);
  }

  /** Clears the cache when a bucket is deleted or restored, which is rare. */
  forgetAll(): void {
    this.#entries.clear();
  }
}
