import type { CreatedServiceAccount, NewServiceAccount, Page, ServiceAccount } from './accounts-types.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { WorkspaceRef } from './workspaces.ts';

/**
 * Service accounts: machine identities of one workspace.
 *
 * @example
 * ```ts
 * const { token } = await svc.serviceAccounts.create({ workspaceUuid }, { name: 'ci', scopes: ['write'] });
 * ```
 */
export class ServiceAccountsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists one page of the service accounts, without their tokens. */
  list(ref: WorkspaceRef, page: PageQuery = {}, options: CallOptions = {}): Promise<Page<ServiceAccount>> {
    const query = { ...pageParameters(page), team_uuid: ref.teamUuid };
    return listPage(this.#transport, 'service_accounts', { path: pathOf(ref), query, ...options });
  }

  /**
   * Creates a service account. Its token is in this response only. Created with an API token or a service account, it
   * ends with that credential.
   */
  create(ref: WorkspaceRef, account: NewServiceAccount, options: CallOptions = {}): Promise<CreatedServiceAccount> {
    const query = { team_uuid: ref.teamUuid };
    return this.#transport.call({ method: 'POST', path: pathOf(ref), query, body: account, ...options });
  }

  /** Renames a service account. */
  rename(
    ref: WorkspaceRef,
    id: string,
    name: string,
    options: CallOptions = {},
  ): Promise<{ id: string; name: string }> {
    const path = `${pathOf(ref)}/${encodeURIComponent(id)}`;
    const query = { team_uuid: ref.teamUuid };
    return this.#transport.call({ method: 'PATCH', path, query, body: { name }, ...options });
  }

  /** Revokes a service account. What it has opened ends within two seconds. */
  async delete(ref: WorkspaceRef, id: string, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(ref)}/${encodeURIComponent(id)}`;
    await this.#transport.call({ method: 'DELETE', path, query: { team_uuid: ref.teamUuid }, ...options });
  }
}

function pathOf({ workspaceUuid }: WorkspaceRef): string {
  return `/api/v1/workspaces/${encodeURIComponent(workspaceUuid)}/service-accounts`;
}
