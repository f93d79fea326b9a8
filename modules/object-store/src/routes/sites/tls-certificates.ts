import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '@svc/runtime';
import { certificateContext } from '../../domain/ports/custom-domains.ts';
import type { DomainDirectory } from '../../domain/custom-domains/domain-directory.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import type { KeyRing } from '../../domain/secrets/key-ring.ts';

export interface TlsCertificatesOptions {
  metadata: Pick<MetadataStore, 'findCertificate'>;
  directory: DomainDirectory;
  secrets: Pick<KeyRing, 'open'>;
  clock: Clock;
  /** How long another process's renewal can go unnoticed. */
  maxAgeMs?: number;
}

interface Entry {
  context: SecureContext;
  issuedAtMs: number;
  loadedAtMs: number;
}

const DEFAULT_MAX_AGE_MS = 5_000;
const MOST_KEPT = 1_024;

/** Finds the certificate for the server name in a TLS handshake (RFC 6066, section 3). */
export class TlsCertificates {
  readonly #options: TlsCertificatesOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: TlsCertificatesOptions) {
    this.#options = options;
  }

  /** Returns null for names that are not served, which ends the handshake. */
  async contextFor(servername: string): Promise<SecureContext | null> {
    const { directory, clock, maxAgeMs = DEFAULT_MAX_AGE_MS } = this.#options;
    const hostname = directory.parseName(servername);
    // Checked every time, so that a removed or blocked domain is rejected at once, even if its certificate is cached.
    if (hostname === null || (await directory.find(hostname)) === null) return null;
    const known = this.#entries.get(hostname);
    if (known !== undefined && clock.nowMs() - known.loadedAtMs < maxAgeMs) return known.context;
    return await this.#load(hostname, known);
  }

  async #load(hostname: string, known: Entry | undefined): Promise<SecureContext | null> {
    const { metadata, secrets, clock } = this.#options;
    const loadedAtMs = clock.nowMs();
    const stored = await metadata.findCertificate({ hostname, nowMs: loadedAtMs });
    this.#entries.delete(hostname);
    if (stored === null) return null;
    const context =
      known?.issuedAtMs === stored.issuedAtMs
        ? known.context
        : createSecureContext({
            cert: stored.chain,
            key: await secrets.open(stored.sealedKey, certificateContext(hostname)),
            minVersion: 'TLSv1.2',
          });
    this.#entries.set(hostname, { context, issuedAtMs: stored.issuedAtMs, loadedAtMs });
    const oldest = this.#entries.size > MOST_KEPT ? this.#entries.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#entries.delete(oldest.value);
    return context;
  }
}
