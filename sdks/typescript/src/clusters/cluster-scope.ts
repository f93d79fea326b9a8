import type { WorkspaceScope } from '../platform.ts';
import type { CallRequest, QueryValue, Transport } from '../transport.ts';

/** A request without its method and path. */
export type ScopedRequest = Omit<CallRequest, 'method' | 'path'>;

/** Calls below `/v1/clusters` in one workspace; the caller's default one if absent. */
export class ClusterScope {
  readonly transport: Transport;
  readonly #workspace: WorkspaceScope;

  constructor(transport: Transport, workspace: WorkspaceScope) {
    this.transport = transport;
    this.#workspace = workspace;
  }

  /** Query parameters that select the workspace. */
  get query(): Readonly<Record<string, QueryValue>> {
    return { workspace_uuid: this.#workspace.workspaceUuid, team_uuid: this.#workspace.teamUuid };
  }

  /** Returns the full request. `path` is relative to `/v1/clusters`. */
  request(path: string, request: Partial<ScopedRequest> = {}): Omit<CallRequest, 'method'> {
    return { ...request, path: `/v1/clusters${path}`, query: { ...this.query, ...request.query } };
  }

  /** `path` is relative to `/v1/clusters`. The server's route schema guarantees the shape of the response. */
  call<Answer>(method: CallRequest['method'], path: string, request: Partial<ScopedRequest> = {}): Promise<Answer> {
    return this.transport.call<Answer>({ method, ...this.request(path, request) });
  }

  /** Streams a response. The caller reads it to its end or cancels it. */
  stream(path: string, request: Partial<ScopedRequest> = {}): Promise<Response> {
    return this.transport.stream({ method: 'GET', ...this.request(path, request) });
  }
}
