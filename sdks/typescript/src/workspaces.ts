import type { Page, Workspace, WorkspaceQuotas } from './accounts-types.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { WorkspaceScope } from './platform.ts';
import type { CallOptions, Transport } from './transport.ts';

/** One workspace, and for members of its team the team through which they reach it. */
export type WorkspaceRef = WorkspaceScope & { workspaceUuid: string };

export class WorkspacesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All that the caller reaches; the own default one comes first. */
  list(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<Workspace>> {
    const query = pageParameters(page);
    return listPage(this.#transport, 'workspaces', { path: '/api/v1/workspaces', query, ...options });
  }

  create(workspace: { name: string; teamUuid?: string }, options: CallOptions = {}): Promise<Workspace> {
    const body = { name: workspace.name, team_uuid: workspace.teamUuid };
    return this.#transport.call({ method: 'POST', path: '/api/v1/workspaces', body, ...options });
  }

  rename(ref: WorkspaceRef, name: string, options: CallOptions = {}): Promise<Workspace> {
    return this.#transport.call({ method: 'PATCH', ...target(ref), body: { name }, ...options });
  }

  /** Into a team, or with null out of the one it is in. */
  move(ref: WorkspaceRef, teamUuid: string | null, options: CallOptions = {}): Promise<Workspace> {
    return this.#transport.call({ method: 'PATCH', ...target(ref), body: { team_uuid: teamUuid }, ...options });
  }

  /** Limits of the workspace, what is used of them, and for its owner the sums over all workspaces. */
  quotas(ref: WorkspaceRef, options: CallOptions = {}): Promise<WorkspaceQuotas> {
    const { path, query } = target(ref);
    return this.#transport.call({ method: 'GET', path: `${path}/quotas`, query, ...options });
  }

  /** Refused while it holds anything (`WORKSPACE_NOT_EMPTY`). */
  async delete(ref: WorkspaceRef, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', ...target(ref), ...options });
  }
}

function target(ref: WorkspaceRef) {
  return { path: `/api/v1/workspaces/${encodeURIComponent(ref.workspaceUuid)}`, query: { team_uuid: ref.teamUuid } };
}
