import { connectSocket, type SocketListener } from '../socket.ts';
import { type SocketLike } from '../open-socket.ts';
import type { WorkspaceScope } from '../platform.ts';
import type { CallRequest, QueryValue, Transport } from '../transport.ts';

/** A request without its method. */
export type SandboxRequest = Omit<CallRequest, 'method'>;

/** Calls in one workspace; the caller's default one if absent, the only one on other servers of this API. */
export class SandboxTransport {
  readonly #transport: Transport;
  readonly #workspace: WorkspaceScope;
  /** Set once the server turns out to have only the contract's routes. */
  contractOnly = false;

  constructor(transport: Transport, workspace: WorkspaceScope) {
    this.#transport = transport;
    this.#workspace = workspace;
  }

  /** The transport of all calls. */
  get transport(): Transport {
    return this.#transport;
  }

  /** `path` is relative to `/api`. The server's route schema guarantees the shape of the response. */
  call<Answer>(method: CallRequest['method'], path: string, request: Partial<SandboxRequest> = {}): Promise<Answer> {
    return this.#transport.call<Answer>(this.#createCall(method, path, request));
  }

  /** Returns a response that is streamed or not JSON. The caller reads or cancels it. */
  stream(method: CallRequest['method'], path: string, request: Partial<SandboxRequest> = {}): Promise<Response> {
    return this.#transport.stream(this.#createCall(method, path, request));
  }

  /**
   * Opens a WebSocket to the sandbox's terminal. Browser sessions use a ticket, since their cookie is not reliable
   * here.
   */
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

  #createCall(method: CallRequest['method'], path: string, request: Partial<SandboxRequest>): CallRequest {
    return { ...request, method, path: `/api${path}`, query: { ...this.#workspaceQuery, ...request.query } };
  }
}

/** Path relative to `/api`. Every server of this API supports this name; `sandboxes` exists only on this platform. */
export function pathOf(id: string): string {
  return `/containers/${encodeURIComponent(id)}`;
}
