import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { Secret } from './sandbox-types.ts';

/**
 * The secrets of the workspace. Values go in and never come out.
 *
 * @example
 * ```ts
 * await svc.sandboxes.secrets.set('OPENAI_API_KEY', key);
 * const sandbox = await svc.sandboxes.create({
 *   image: 'node',
 *   egress_rules: [
 *     { host: 'api.openai.com', header: 'Authorization', secret: 'OPENAI_API_KEY', template: 'Bearer {value}' },
 *   ],
 * });
 * ```
 */
export class SecretsClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Lists all secrets by name, without their values. */
  async list(options: CallOptions = {}): Promise<Secret[]> {
    return (await this.#transport.call<{ secrets: Secret[] }>('GET', '/secrets', options)).secrets;
  }

  /** Returns a secret without its value. */
  get(name: string, options: CallOptions = {}): Promise<Secret> {
    return this.#transport.call('GET', pathOf(name), options);
  }

  /** Creates a secret; throws `ConflictError` if it exists. */
  create(name: string, value: string, options: CallOptions = {}): Promise<Secret> {
    return this.#transport.call('POST', '/secrets', { body: { name, value }, ...options });
  }

  /** Replaces the value of a secret; throws `NotFoundError` if it does not exist. */
  replace(name: string, value: string, options: CallOptions = {}): Promise<Secret> {
    return this.#transport.call('PUT', pathOf(name), { body: { value }, ...options });
  }

  /** Creates a secret or replaces its value. */
  async set(name: string, value: string, options: CallOptions = {}): Promise<Secret> {
    const isKnown = (await this.list(options)).some((each) => each.name === name);
    return isKnown ? this.replace(name, value, options) : this.create(name, value, options);
  }

  /** Deletes a secret. Requests to the hosts of its rules fail until they are changed. */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', pathOf(name), options);
  }
}

function pathOf(name: string): string {
  return `/secrets/${encodeURIComponent(name)}`;
}
