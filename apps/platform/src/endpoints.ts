import type { PlatformConfig } from './config.ts';
import { hostInUrl } from './listen.ts';

/** Where the platform is reached. With port 0 this is known only once the listeners are open, so it is asked, not kept. */
export class Endpoints {
  readonly #config: PlatformConfig;
  #ports = { http: 0, https: 0, s3: 0 };

  constructor(config: PlatformConfig) {
    this.#config = config;
    this.#ports = { http: config.port, https: config.https_port, s3: config.s3_port };
  }

  opened(ports: { http: number; https: number; s3: number }): void {
    this.#ports = ports;
  }

  get url(): string {
    return this.#config.public_url ?? this.localUrl;
  }

  /** Without what a proxy in front makes of it. */
  get localUrl(): string {
    return `http://${hostInUrl(this.#config.host)}:${this.#ports.http}`;
  }

  get httpsUrl(): string {
    return `https://${hostInUrl(this.#config.host)}:${this.#ports.https}`;
  }

  get s3Endpoint(): string {
    return this.#config.s3_public_url ?? `http://${hostInUrl(this.#config.host)}:${this.#ports.s3}`;
  }
}
