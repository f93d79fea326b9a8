import type { IncomingHttpHeaders } from 'node:http';

export interface PublicOriginOptions {
  /** `object_store.public_objects.domain`; empty: public objects have no origin of their own. */
  domain: string;
  /** Base URL of the API as clients reach it; absent: as the caller of the moment did. */
  baseUrl?: (() => string) | undefined;
}

/** How a request reached the API. */
export interface Approach {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly protocol: string;
  /** Name and port. */
  readonly host: string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/;
/** What a name of a certificate's wildcard, or of a URL, can stand for: a bucket with a dot in its name has no host. */
const LABEL = /^[a-z0-9-]{1,63}$/;

/** The hosts `<bucket>.<domain>`: for each bucket an origin in which neither console nor API, nor another bucket, is. */
export class PublicOrigin {
  readonly #domain: string;
  readonly #baseUrl: (() => string) | undefined;

  constructor({ domain, baseUrl }: PublicOriginOptions) {
    this.#domain = domain.toLowerCase();
    this.#baseUrl = baseUrl;
  }

  /** What the host is: of a bucket, of none though below the domain (`bucketName` is null), or not ours (null). */
  placeOf(hostHeader: string | undefined): { bucketName: string | null } | null {
    const name = nameOf(hostHeader ?? '');
    const domain = this.#domain;
    if (domain === '' || !(name === domain || name.endsWith(`.${domain}`))) return null;
    const label = name.slice(0, -domain.length - 1);
    return { bucketName: LABEL.test(label) ? label : null };
  }

  /** `path` is a key as it stands in a URL. Null where the bucket has no such origin that the caller could reach. */
  urlOf(bucketName: string, path: string, approach: Approach): string | null {
    if (this.#domain === '' || !LABEL.test(bucketName)) return null;
    if (this.#isLocal && !LOOPBACK.test(nameOf(approach.host))) return null;
    const reached = this.#reachedBy(approach);
    if (reached === null) return null;
    const { protocol, port } = reached;
    return `${protocol}//${bucketName}.${this.#domain}${port === '' ? '' : `:${port}`}/${path}`;
  }

  /**
   * Where to send a request that came by the contract's path; null where it is answered in place. A domain that the
   * operator set is for everybody. Names below `localhost` are resolved by the browser itself, if it can: only page loads
   * of those that do are sent there.
   */
  redirectFor(bucketName: string, path: string, approach: Approach): string | null {
    if (this.#isLocal && !(isNavigation(approach.headers) && resolvesLocalhost(approach.headers))) return null;
    return this.urlOf(bucketName, path, approach);
  }

  /** Whether addresses of the domain may be handed out in place of the contract's. */
  get isForEverybody(): boolean {
    return this.#domain !== '' && !this.#isLocal;
  }

  get #isLocal(): boolean {
    return this.#domain.endsWith('.localhost');
  }

  /**
   * The scheme and port of a proxy in front are known from the configuration alone. Null for a host that no URL can name,
   * such as one with a port above 65535.
   */
  #reachedBy({ protocol, host }: Approach): URL | null {
    const told = this.#baseUrl?.();
    const isDirect = told === undefined || this.#isLocal || protocol === 'https';
    return isDirect ? URL.parse(`${protocol}://${host}`) : new URL(told);
  }
}

function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}

/** Whether a browser loads a page, a frame or an embedded document. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

/** Browsers of Chromium's family and Firefox take `*.localhost` as this machine; others ask a resolver, which may not. */
function resolvesLocalhost(headers: IncomingHttpHeaders): boolean {
  return /\b(?:Chrome|HeadlessChrome|Firefox)\//.test(headers['user-agent'] ?? '');
}
