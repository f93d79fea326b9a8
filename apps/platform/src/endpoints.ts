import type { PlatformConfig } from './config.ts';
import { hostInUrl } from './listen.ts';

/** Where the platform is reached. With port 0 this is known only once the listeners are open, so it is asked, not kept. */
export class Endpoints {
  readonly #config: PlatformConfig;
  #ports = { http: 0, https: 0, s3: 0 };
  #authority: string | null = null;

  constructor(config: PlatformConfig) {
    this.#config = config;
    this.#ports = { http: config.port, https: config.https_port, s3: config.s3_port };
  }

  opened(ports: { http: number; https: number; s3: number }): void {
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
}
