import type { Page, Workspace, WorkspaceQuotas } from './accounts-types.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { WorkspaceScope } from './platform.ts';
import type { CallOptions, Transport } from './transport.ts';

/** A workspace and, for members of its team, the team that gives them access. */
export type WorkspaceRef = WorkspaceScope & { workspaceUuid: string };

/**
 * Workspaces and their quotas.
 *
 * @example
 * ```ts
 * const workspace = await svc.workspaces.create({ name: 'staging' });
 * ```
 */
export class WorkspacesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists one page of the workspaces the caller can access; the caller's default one comes first. */
  list(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<Workspace>> {
    const query = pageParameters(page);
    return listPage(this.#transport, 'workspaces', { path: '/api/v1/workspaces', query, ...options });
  }

  /** Creates a workspace, optionally in a team. */
  create(workspace: { name: string; teamUuid?: string }, options: CallOptions = {}): Promise<Workspace> {
    const body = { name: workspace.name, team_uuid: workspace.teamUuid };
    return this.#transport.call({ method: 'POST', path: '/api/v1/workspaces', body, ...options });
  }

  /** Renames a workspace. */
  rename(ref: WorkspaceRef, name: string, options: CallOptions = {}): Promise<Workspace> {
    return this.#transport.call({ method: 'PATCH', ...target(ref), body: { name }, ...options });
  }

  /** Moves a workspace into a team, or out of its team with null. */
  move(ref: WorkspaceRef, teamUuid: string | null, options: CallOptions = {}): Promise<Workspace> {
    return this.#transport.call({ method: 'PATCH', ...target(ref), body: { team_uuid: teamUuid }, ...options });
  }

  /** Returns limits and usage of the workspace and, for its owner, totals across all workspaces. */
  quotas(ref: WorkspaceRef, options: CallOptions = {}): Promise<WorkspaceQuotas> {
    const { path, query } = target(ref);
    return this.#transport.call({ method: 'GET', path: `${path}/quotas`, query, ...options });
  }

  /** Deletes a workspace. Fails with `WORKSPACE_NOT_EMPTY` while it contains anything. */
  async delete(ref: WorkspaceRef, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', ...target(ref), ...options });
  }
}

function target(ref: WorkspaceRef) {
  return { path: `/api/v1/workspaces/${encodeURIComponent(ref.workspaceUuid)}`, query: { team_uuid: ref.teamUuid } };
}
