import type { QuotaOverride, QuotaState, QuotaSubject } from './accounts-types.ts';
import type { CallOptions, Transport } from './transport.ts';

const PATH = '/api/v1/admin/quotas';

/** Limits of workspaces and owners; for the operator of the installation alone. */
export class QuotasClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Every limit that was set; all others are the defaults. */
  async list(options: CallOptions = {}): Promise<QuotaOverride[]> {
    const answer = await this.#transport.call<{ overrides: QuotaOverride[] }>({
      method: 'GET',
      path: PATH,
      ...options,
    });
    return answer.overrides;
  }

  /** All quotas of any workspace or owner, with what is used of them. */
  async read(subject: QuotaSubject, options: CallOptions = {}): Promise<QuotaState[]> {
    const path = pathOf(subject);
    return (await this.#transport.call<{ quotas: QuotaState[] }>({ method: 'GET', path, ...options })).quotas;
  }

  /** Takes effect within a second; null means unlimited. */
  set(subject: QuotaSubject, quota: string, limit: number | null, options: CallOptions = {}): Promise<QuotaOverride> {
    const path = `${pathOf(subject)}/${encodeURIComponent(quota)}`;
    return this.#transport.call({ method: 'PUT', path, body: { limit }, ...options });
  }

  /** Puts the default back. Throws `QUOTA_NOT_SET` when it holds already. */
  async unset(subject: QuotaSubject, quota: string, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(subject)}/${encodeURIComponent(quota)}`;
    await this.#transport.call({ method: 'DELETE', path, ...options });
  }
}

function pathOf({ scope, subject }: QuotaSubject): string {
  return `${PATH}/${scope}/${encodeURIComponent(subject)}`;
}
