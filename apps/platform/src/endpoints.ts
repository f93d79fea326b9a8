import type { PlatformConfig } from './config.ts';
import { hostInUrl } from './listen.ts';

export interface OpenPorts {
  http: number;
  https: number;
  s3: number;
  /** Null if that listener is off. */
  s3Https: number | null;
}

/** The platform's URLs. With port 0 they are known only once the listeners are open, so read them on each use. */
export class Endpoints {
  readonly #config: PlatformConfig;
  #ports: OpenPorts;
  #authority: string | null = null;

  constructor(config: PlatformConfig) {
    this.#config = config;
    const { port: http, https_port: https, s3_port: s3, s3_https_port: s3Https = null } = config;
    this.#ports = { http, https, s3, s3Https };
  }

  opened(ports: OpenPorts): void {
    this.#ports = ports;
  }

  /** Sets the PEM of the local authority if it certified the TLS listener. */
  certifiedBy(authority: string | null): void {
    this.#authority = authority;
  }

  /** URL for clients that require TLS. */
  get secureUrl(): string {
    return this.#isPublicSecure ? this.url : this.httpsUrl;
  }

  /** The authority that clients of `secureUrl` must trust; null if they already do. */
  get certificateAuthority(): string | null {
    return this.#isPublicSecure ? null : this.#authority;
  }

  get #isPublicSecure(): boolean {
    return this.#config.public_url?.startsWith('https:') ?? false;
  }

  get url(): string {
    return this.#config.public_url ?? this.localUrl;
  }

  /** Ignores a proxy in front. */
  get localUrl(): string {
    if (this.#config.http !== 'serve') return this.httpsUrl;
    return `http://${hostInUrl(this.#config.host)}:${this.#ports.http}`;
  }

  get httpsUrl(): string {
    return `https://${hostInUrl(this.#config.host)}:${this.#ports.https}`;
  }

  get s3Endpoint(): string {
    return this.#config.s3_public_url ?? `http://${hostInUrl(this.#config.host)}:${this.#ports.s3}`;
  }

  /** Null if S3 has no TLS listener. */
  get s3HttpsEndpoint(): string | null {
    const { s3Https } = this.#ports;
    return s3Https === null ? null : `https://${hostInUrl(this.#config.host)}:${s3Https}`;
  }
}
