import { readFile } from 'node:fs/promises';
import type { ImageReference } from './reference.ts';
import { RegistryClient } from './registry-client.ts';
import { RegistryFailure } from './registry-failure.ts';

/** Settings of one registry (`sandboxes.registries` in the configuration). */
export interface RegistrySettings {
  readonly host: string;
  readonly mirror?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly ca_file?: string | undefined;
  readonly plain_http?: boolean | undefined;
}

export interface RegistriesOptions {
  readonly settings: readonly RegistrySettings[];
  readonly proxy: string | null;
  readonly nowMs: () => number;
}

/** Creates and caches one client per registry. */
export class Registries {
  readonly #options: RegistriesOptions;
  readonly #clients = new Map<string, Promise<RegistryClient>>();

  constructor(options: RegistriesOptions) {
    this.#options = options;
  }

  async findOrCreateClient({ registry }: ImageReference): Promise<RegistryClient> {
    const known = this.#clients.get(registry);
    if (known !== undefined) return known;
    const made = this.#make(registry);
    this.#clients.set(registry, made);
    // Retry next time: a missing file may exist by then.
    made.catch(() => this.#clients.delete(registry));
    return made;
  }

  async close(): Promise<void> {
    for (const client of await Promise.allSettled(this.#clients.values())) {
      if (client.status === 'fulfilled') client.value.close();
    }
  }

  async #make(registry: string): Promise<RegistryClient> {
    const { settings, proxy, nowMs } = this.#options;
    const found = settings.find(({ host }) => host === registry);
    const mirror = found?.mirror ?? null;
    const { username, password } = found ?? {};
    return new RegistryClient({
      registry,
      mirror,
      credentials: username === undefined || password === undefined ? null : { username, password },
      // Like other tools, default to plain HTTP on loopback, which cannot be intercepted.
      plainHttp: found?.plain_http ?? isLoopback(mirror ?? registry),
      ca: found?.ca_file === undefined ? undefined : await readCertificates(found.ca_file),
      proxy: proxy ?? undefined,
      nowMs,
    });
  }
}

async function readCertificates(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new RegistryFailure(`its certificates ${file} cannot be read`, { cause: error });
  }
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.[0-9.]+|\[::1\])(?::[0-9]+)?$/.test(host);
}
