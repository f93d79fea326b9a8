import { Agent as HttpAgent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { continueOnFirstRead, relayRequest, RelayTimeout, relayUpgrade, type RelayTarget } from '@svc/http/relay';
import type { KubeClient } from '@svc/kube';
import { joinStreams, type MuxStream } from '@svc/mux';
import { SANDBOX_PROFILE_PATH, SANDBOXES_SERVICE, type TunnelRequest } from '@svc/protocol';
import type { LiveConfig } from '../config/live-config.ts';
import type { AgentMetrics } from '../metrics.ts';
import { isDropped, kubernetesHeaders } from './kubernetes-headers.ts';
import { explainRefusal } from './kubernetes-policy.ts';
import { KubernetesRefusal, statusText, writeStatus } from './kubernetes-status.ts';
import { explainSandboxRefusal, sandboxProfile, whyNoSandboxes } from './sandbox-policy.ts';

export interface KubernetesServiceOptions {
  client: Pick<KubeClient, 'access' | 'transport'>;
  config: LiveConfig;
  metrics: Pick<AgentMetrics, 'kubernetesRequest'>;
}

export interface KubernetesService {
  /** Serves HTTP/1.1 on the stream until it ends. */
  accept(stream: MuxStream, request: TunnelRequest): void;
  close(): void;
}

/** A very long list, or a slow webhook, may take minutes to send its first byte. */
const ANSWER_TIMEOUT_MS = 300_000;
const UPGRADE_TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
const KEPT = { keepAlive: true, maxFreeSockets: 32 } as const;

/** The API server behind the tunnel, accessed as the agent itself or by impersonating the user. */
export function createKubernetesService(options: KubernetesServiceOptions): KubernetesService {
  const callers = new WeakMap<object, TunnelRequest>();
  const isSecure = options.client.access.server.protocol === 'https:';
  // One for the agent's lifetime: connections to the API server are kept and shared by all callers.
  const agent = isSecure ? new HttpsAgent(KEPT) : new HttpAgent(KEPT);
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0, keepAliveTimeout: 0 });

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    if (isProfileRequest(request, callers.get(request.socket))) {
      writeProfile(options.config, response);
      return;
    }
    createTarget(options, request, callers.get(request.socket), { agent, timeoutMs: ANSWER_TIMEOUT_MS })
      .then((target) => relayRequest(request, response, target))
      .catch((error: unknown) => writeStatus(response, toRefusal(error)));
  };
  server.on('request', serve);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueOnFirstRead(request, response);
    serve(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    createTarget(options, request, callers.get(socket), { agent: false, timeoutMs: UPGRADE_TIMEOUT_MS })
      .then((target) => relayUpgrade({ request, socket, head }, target, joinStreams))
      .catch((error: unknown) => void socket.end(statusText(toRefusal(error))));
  });
  server.on('clientError', (_error, socket: Duplex) => void socket.destroy());
  return {
    accept: (stream, request) => {
      callers.set(stream, request);
      server.emit('connection', stream);
    },
    close: () => agent.destroy(),
  };
}

async function createTarget(
  { client, config, metrics }: KubernetesServiceOptions,
  request: IncomingMessage,
  caller: TunnelRequest | undefined,
  how: Pick<RelayTarget, 'agent' | 'timeoutMs'>,
): Promise<RelayTarget> {
  const rules = config.current;
  if (caller === undefined) throw new KubernetesRefusal(403, 'FORBIDDEN', 'Forbidden', 'the request names no caller');
  const isForSandboxes = caller.service === SANDBOXES_SERVICE;
  const refusal = isForSandboxes ? explainSandboxRefusal(request, rules) : explainRefusal(request, caller.role, rules);
  if (refusal !== null) throw new KubernetesRefusal(403, 'FORBIDDEN', 'Forbidden', refusal);
  metrics.kubernetesRequest();
  const { headers: own, ...connection } = await client.transport.connection();
  const { access } = client;
  const authorization: unknown = Object.entries(own ?? {}).find(([name]) => name === 'authorization')?.[1];
  return {
    ...how,
    connection,
    path: `${access.server.pathname.replace(/\/$/, '')}${request.url ?? '/'}`,
    headers: kubernetesHeaders(request, {
      host: access.server.host,
      authorization: typeof authorization === 'string' ? authorization : null,
      // Pods of sandboxes belong to no user of the cluster.
      ...(rules.tunnel.kubernetes.identity === 'user' && !isForSandboxes ? { impersonate: caller } : {}),
    }),
    dropsTrailer: isDropped,
    onAnswer: (status) => {
      if (status === 401) access.token.invalidate(); // a projected token may have been renewed since it was read
    },
  };
}

function isProfileRequest({ method, url }: IncomingMessage, caller: TunnelRequest | undefined): boolean {
  return caller?.service === SANDBOXES_SERVICE && method === 'GET' && url === SANDBOX_PROFILE_PATH;
}

/** Answered by the agent itself. */
function writeProfile({ current }: LiveConfig, response: ServerResponse): void {
  const reason = whyNoSandboxes(current);
  if (reason !== null) {
    writeStatus(response, new KubernetesRefusal(403, 'FORBIDDEN', 'Forbidden', reason));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sandboxProfile(current)));
}

function toRefusal(error: unknown): KubernetesRefusal {
  if (error instanceof KubernetesRefusal) return error;
  if (error instanceof RelayTimeout) {
    return new KubernetesRefusal(504, 'TUNNEL_TIMEOUT', 'Timeout', `the API server: ${error.message}`);
  }
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'the connection failed';
  return new KubernetesRefusal(502, 'TUNNEL_BACKEND_UNREACHABLE', 'InternalError', `the API server: ${reason}`);
}
