import type { QuotaOverride, QuotaState, QuotaSubject } from './accounts-types.ts';
import type { CallOptions, Transport } from './transport.ts';

const PATH = '/api/v1/admin/quotas';

/** Limits of workspaces and owners; operators only. */
export class QuotasClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists every limit that differs from the default. */
  async list(options: CallOptions = {}): Promise<QuotaOverride[]> {
    const answer = await this.#transport.call<{ overrides: QuotaOverride[] }>({
      method: 'GET',
      path: PATH,
      ...options,
    });
    return answer.overrides;
  }

  /** Returns all quotas of a workspace or owner, with their usage. */
  async read(subject: QuotaSubject, options: CallOptions = {}): Promise<QuotaState[]> {
    const path = pathOf(subject);
    return (await this.#transport.call<{ quotas: QuotaState[] }>({ method: 'GET', path, ...options })).quotas;
  }

  /** Sets a limit, effective within a second; null means unlimited. */
  set(subject: QuotaSubject, quota: string, limit: number | null, options: CallOptions = {}): Promise<QuotaOverride> {
    const path = `${pathOf(subject)}/${encodeURIComponent(quota)}`;
    return this.#transport.call({ method: 'PUT', path, body: { limit }, ...options });
  }

  /** Restores the default. Throws `QUOTA_NOT_SET` if no limit was set. */
  async unset(subject: QuotaSubject, quota: string, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(subject)}/${encodeURIComponent(quota)}`;
    await this.#transport.call({ method: 'DELETE', path, ...options });
  }
}

function pathOf({ scope, subject }: QuotaSubject): string {
  return `${PATH}/${scope}/${encodeURIComponent(subject)}`;
}
