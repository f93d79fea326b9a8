import type { IncomingHttpHeaders } from 'node:http';

export interface PublicOriginOptions {
  /** `object_store.public_objects.domain`. If empty, public objects have no origin of their own. */
  domain: string;
  /** Base URL of the API, as clients reach it. Defaults to the URL each caller used. */
  baseUrl?: (() => string) | undefined;
}

/** How a request reached the API. */
export interface Approach {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly protocol: string;
  /** Name and port of the host. */
  readonly host: string;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|.+\.localhost)$/;
/** One DNS label, as a wildcard certificate covers it. A bucket with a dot in its name has no host. */
const LABEL = /^[a-z0-9-]{1,63}$/;

/** The hosts `<bucket>.<domain>`: each bucket has its own origin, apart from the console, the API and other buckets. */
export class PublicOrigin {
  readonly #domain: string;
  readonly #baseUrl: (() => string) | undefined;

  constructor({ domain, baseUrl }: PublicOriginOptions) {
    this.#domain = domain.toLowerCase();
    this.#baseUrl = baseUrl;
  }

  /**
   * The bucket of a host. `bucketName` is null for other names below the domain; the result is null for foreign hosts.
   */
  parsePlace(hostHeader: string | undefined): { bucketName: string | null } | null {
    const name = nameOf(hostHeader ?? '');
    const domain = this.#domain;
    if (domain === '' || !(name === domain || name.endsWith(`.${domain}`))) return null;
    const label = name.slice(0, -domain.length - 1);
    return { bucketName: LABEL.test(label) ? label : null };
  }

  /** `path` is the URL-encoded key. Returns null if the bucket has no host that this caller can reach. */
  urlOf(bucketName: string, path: string, approach: Approach): string | null {
    if (this.#domain === '' || !LABEL.test(bucketName)) return null;
    if (this.#isLocal && !LOOPBACK.test(nameOf(approach.host))) return null;
    const reached = this.#reachedBy(approach);
    if (reached === null) return null;
    const { protocol, port } = reached;
    return `${protocol}//${bucketName}.${this.#domain}${port === '' ? '' : `:${port}`}/${path}`;
  }

  /**
   * Returns the redirect target of a request to the contract's path, or null to answer it in place. Redirects every
   * client to a configured domain. A domain below `localhost` only works in browsers that resolve such names
   * themselves, so only their page loads are redirected there.
   */
  redirectFor(bucketName: string, path: string, approach: Approach): string | null {
    if (this.#isLocal && !(isNavigation(approach.headers) && resolvesLocalhost(approach.headers))) return null;
    return this.urlOf(bucketName, path, approach);
  }

  /**
   * Whether every client can reach the domain's URLs, so that responses can use them instead of the contract's paths.
   */
  get isForEverybody(): boolean {
    return this.#domain !== '' && !this.#isLocal;
  }

  get #isLocal(): boolean {
    return this.#domain.endsWith('.localhost');
  }

  /**
   * Only the configuration knows the scheme and port of a proxy in front. Returns null if the host cannot be part of a
   * URL, such as one with a port above 65535.
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

/** Whether a browser is loading a page, a frame or an embedded document. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

/** Chromium-based browsers and Firefox map `*.localhost` to this machine; others ask a resolver that may not. */
function resolvesLocalhost(headers: IncomingHttpHeaders): boolean {
  return /\b(?:Chrome|HeadlessChrome|Firefox)\//.test(headers['user-agent'] ?? '');
}
