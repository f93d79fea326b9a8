import { createSecureContext, type SecureContext } from 'node:tls';
import type { EgressAuthority } from '../../../../domain/egress-rules/egress-rule.ts';

/** Issues a certificate for a hostname, in PEM. */
export type IssueCertificate = (authority: EgressAuthority, host: string) => Promise<EgressAuthority>;

const MAX_HOSTS = 64;
/** Certificates are valid for a year. */
const RENEW_AFTER_MS = 30 * 24 * 3600_000;

interface Issued {
  readonly context: Promise<SecureContext>;
  readonly atMs: number;
}

/** Certificates of one sandbox's authority for the hosts of its rules, issued on demand and kept in memory. */
export class HostCertificates {
  readonly #authority: EgressAuthority;
  readonly #issue: IssueCertificate;
  readonly #nowMs: () => number;
  readonly #issued = new Map<string, Issued>();

  constructor(authority: EgressAuthority, issue: IssueCertificate, nowMs: () => number) {
    this.#authority = authority;
    this.#issue = issue;
    this.#nowMs = nowMs;
  }

  contextFor(host: string): Promise<SecureContext> {
    const known = this.#issued.get(host);
    if (known !== undefined && this.#nowMs() - known.atMs < RENEW_AFTER_MS) return known.context;
    const context = this.#create(host);
    this.#issued.delete(host);
    this.#issued.set(host, { context, atMs: this.#nowMs() });
    context.catch(() => this.#issued.delete(host));
    const oldest = this.#issued.size > MAX_HOSTS ? this.#issued.keys().next() : null;
    if (oldest !== null && !oldest.done) this.#issued.delete(oldest.value);
    return context;
  }

  async #create(host: string): Promise<SecureContext> {
    const { cert, key } = await this.#issue(this.#authority, host);
    return createSecureContext({ cert: `${cert}\n${this.#authority.cert}`, key, minVersion: 'TLSv1.2' });
  }
}
