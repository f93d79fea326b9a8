import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { dialMux, MuxSession } from '@svc/mux';
import { decodeTunnelRequest, type TunnelRequest } from '@svc/protocol';
import { waitFor, type FakeCaller } from '@svc/testing';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Rig } from './rig.ts';

export interface PlayedAnswer {
  status?: number;
  body: unknown;
  /** The response never ends, like that of a watch. */
  endless?: boolean;
}

export interface PlayedKubernetesOptions {
  answer: (url: URL) => PlayedAnswer | Promise<PlayedAnswer>;
  /** The server side of an exec, after its handshake. */
  exec?: (socket: WebSocket, url: URL) => void;
  /** The owner of the cluster; that of the rig by default. */
  owner?: FakeCaller;
}

/** An agent's tunnel with a fake API server behind it: HTTP on a real stream of a real session. */
export class PlayedKubernetes {
  readonly asked: string[] = [];
  readonly callers: TunnelRequest[] = [];
  readonly session: MuxSession;

  private constructor(session: MuxSession) {
    this.session = session;
  }

  static connect(
    rig: Rig,
    cluster: { id: string; token: string },
    options: PlayedKubernetesOptions,
  ): Promise<PlayedKubernetes> {
    const { owner = rig.owner } = options;
    const ask = async (path: string): Promise<number> => (await rig.call('GET', path, { caller: owner })).status;
    return PlayedKubernetes.dial(rig.url, cluster, options, ask);
  }

  /** Connects to any platform; `ask` returns the status of a GET by a caller who may use the tunnel. */
  static async dial(
    platformUrl: string,
    cluster: { id: string; token: string },
    options: PlayedKubernetesOptions,
    ask: (path: string) => Promise<number>,
  ): Promise<PlayedKubernetes> {
    const { transport } = await dialMux({
      url: new URL(`${platformUrl}/v1/agent/tunnel`),
      headers: { authorization: `Bearer ${cluster.token}`, 'x-cluster-id': cluster.id },
      timeoutMs: 5000,
      signal: new AbortController().signal,
    });
    const server = createServer();
    const session = new MuxSession(transport, {
      role: 'client',
      onStream: (stream) => {
        const caller = decodeTunnelRequest(stream.metadata);
        if (caller !== null) played.callers.push(caller);
        server.emit('connection', stream);
      },
    });
    const played = new PlayedKubernetes(session);
    let isUsed = false;
    server.on('request', (request, response) => {
      if (isUsed) void played.#serve(options, request, response);
      else response.end();
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const url = played.#note(request);
      sockets.handleUpgrade(request, socket, head, (webSocket) => options.exec?.(webSocket, url));
    });
    // The platform uses the tunnel a little later than its row shows it.
    const ready = `/v1/clusters/${cluster.id}/tunnel/kubernetes/readyz`;
    await waitFor(async () => (await ask(ready)) === 200, { description: 'the tunnel' });
    played.callers.length = 0;
    isUsed = true;
    return played;
  }

  async close(): Promise<void> {
    this.session.close();
    await this.session.closed;
  }

  #note(request: IncomingMessage): URL {
    const url = new URL(request.url ?? '/', 'http://kubernetes');
    this.asked.push(`${url.pathname}${url.search}`);
    return url;
  }

  async #serve({ answer }: PlayedKubernetesOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status = 200, body, endless = false } = await answer(this.#note(request));
    response.writeHead(status, { 'content-type': 'application/json' }).write(JSON.stringify(body));
    if (!endless) response.end();
  }
}
