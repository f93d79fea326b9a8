import type { PlatformConfig } from './config.ts';
import { hostInUrl } from './listen.ts';

export interface OpenPorts {
  http: number;
  https: number;
  s3: number;
  /** Null where that listener is off. */
  s3Https: number | null;
}

/** Where the platform is reached. With port 0 this is known only once the listeners are open, so it is asked, not kept. */
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

  /** The PEM of the local authority, when it is what certifies the TLS listener. */
  certifiedBy(authority: string | null): void {
    this.#authority = authority;
  }

  /** Where clients that insist on TLS reach the platform. */
  get secureUrl(): string {
    return this.#isPublicSecure ? this.url : this.httpsUrl;
  }

  /** What clients of `secureUrl` must trust; null when they do so anyway. */
  get certificateAuthority(): string | null {
    return this.#isPublicSecure ? null : this.#authority;
  }

  get #isPublicSecure(): boolean {
    return this.#config.public_url?.startsWith('https:') ?? false;
  }

  get url(): string {
    return this.#config.public_url ?? this.localUrl;
  }

  /** Without what a proxy in front makes of it. */
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

  /** Null where S3 has no listener with TLS. */
  get s3HttpsEndpoint(): string | null {
    const { s3Https } = this.#ports;
    return s3Https === null ? null : `https://${hostInUrl(this.#config.host)}:${s3Https}`;
  }
}
