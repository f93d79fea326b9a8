import { connectSocket, type SocketLike, type SocketListener } from '../socket.ts';
import type { WorkspaceScope } from '../platform.ts';
import type { CallRequest, QueryValue, Transport } from '../transport.ts';

export type SandboxRequest = Omit<CallRequest, 'method'>;

/** Calls of one workspace; absent means the caller's default one, which is all that other servers of this API know. */
export class SandboxTransport {
  readonly #transport: Transport;
  readonly #workspace: WorkspaceScope;
  /** Set once the server has shown that it has the contract's routes and nothing beside them. */
  contractOnly = false;

  constructor(transport: Transport, workspace: WorkspaceScope) {
    this.#transport = transport;
    this.#workspace = workspace;
  }

  get transport(): Transport {
    return this.#transport;
  }

  /** `path` is below `/api`. The schema of the route on the server is what promises the shape of the answer. */
  call<Answer>(method: CallRequest['method'], path: string, request: Partial<SandboxRequest> = {}): Promise<Answer> {
    return this.#transport.call<Answer>(this.#callOf(method, path, request));
  }

  /** An answer of which the body is not JSON, or is read while it comes; the caller reads or cancels it. */
  stream(method: CallRequest['method'], path: string, request: Partial<SandboxRequest> = {}): Promise<Response> {
    return this.#transport.stream(this.#callOf(method, path, request));
  }

  /** A WebSocket of the sandbox's terminal. A browser's session opens it with a ticket, since its cookie cannot be relied on. */
  async openTerminal(
    id: string,
    request: {
      query: Readonly<Record<string, QueryValue>>;
      protocols: readonly string[];
      signal?: AbortSignal | undefined;
    },
    listener: SocketListener,
  ): Promise<SocketLike> {
    const { signal } = request;
    const query = { ...request.query, ...this.#workspaceQuery };
    if (this.#transport.credential.kind === 'session') {
      const path = `${pathOf(id)}/terminal/tickets`;
      const { ticket } = await this.call<{ ticket: string }>('POST', path, { signal });
      Object.assign(query, { ticket });
    }
    const path = `/ws/terminal/${encodeURIComponent(id)}`;
    return await connectSocket(this.#transport, { path, query, protocols: request.protocols, signal }, listener);
  }

  get #workspaceQuery(): Readonly<Record<string, QueryValue>> {
    return { workspace_uuid: this.#workspace.workspaceUuid, team_uuid: this.#workspace.teamUuid };
  }

  #callOf(method: CallRequest['method'], path: string, request: Partial<SandboxRequest>): CallRequest {
    return { ...request, method, path: `/api${path}`, query: { ...this.#workspaceQuery, ...request.query } };
  }
}

/** Below `/api`; every server of this API knows this name, `sandboxes` is ours alone. */
export function pathOf(id: string): string {
  return `/containers/${encodeURIComponent(id)}`;
}
