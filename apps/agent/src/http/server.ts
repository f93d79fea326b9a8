import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { toClientError, isAboutHttp, refuseSocket } from '@svc/http/client-errors';
import type { Logger } from '@svc/telemetry';
import { agentErrors } from '../errors.ts';
import type { RouteLimits } from './rate-limits.ts';
import type { Answer, Route } from './routes.ts';
import { isAppError, type AppError } from '@svc/errors';

export interface AgentServerOptions {
  host: string;
  port: number;
  /** Name of the configuration key, for the error if the port is in use. */
  portKey: string;
  find: (path: string) => Route | null;
  limits: RouteLimits;
  /** Maps a path to the one whose rate limit applies. */
  limitedAs?: (path: string) => string;
  log: Logger;
}

export interface AgentServer {
  readonly port: number;
  /** False once the listener has failed; the process is then unhealthy. */
  listening(): boolean;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 256;
const ALLOWED = 'GET, HEAD';

/** A small HTTP server: GET and HEAD, no bodies, limits on connections, time and headers. */
export async function startAgentServer(options: AgentServerOptions): Promise<AgentServer> {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 5000,
      maxHeaderSize: 16_384,
      requireHostHeader: false, // refused in `respond`, with an error body
    },
    (request, response) => {
      respond(options, request, response).catch((error: unknown) => {
        options.log.error({ err: error }, 'an answer could not be sent');
        response.destroy();
      });
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.on('clientError', (error: Error, socket: Duplex) => {
    if (isAboutHttp(error)) refuseSocket(socket, toClientError(error), '', (refusal) => errorAnswer(refusal).body);
    else socket.destroy();
  });
  await listen(server, options);
  server.on('error', (error) => options.log.error({ err: error }, 'the listener failed'));
  return {
    port: (server.address() as AddressInfo).port, // a TCP listener's address is never a string
    listening: () => server.listening,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 1000).unref();
      }),
  };
}

async function respond(options: AgentServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume(); // discard the body: an unread one would hold the connection
  let answer: Answer;
  let headers: Record<string, string> = {};
  try {
    const { path, route } = findRoute(options, request);
    // First, so that every response of a limited route has the rate limit headers.
    headers = options.limits.take(options.limitedAs?.(path) ?? path, request.socket.remoteAddress ?? '');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const details = { field: 'method', reason: `only ${ALLOWED}`, allowed: ALLOWED };
      throw agentErrors.METHOD_NOT_ALLOWED({ details, headers: { allow: ALLOWED } });
    }
    answer = await route();
  } catch (error) {
    const refusal = errorAnswer(error);
    if (refusal.status >= 500) options.log.error({ err: error }, 'a request failed');
    headers = { ...headers, ...refusal.headers };
    answer = {
      status: refusal.status,
      contentType: 'application/json; charset=utf-8',
      body: JSON.stringify(refusal.body),
    };
  }
  response.writeHead(answer.status, {
    ...headers,
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

/** The target may also be an absolute URL, as sent by clients behind a proxy (RFC 9112, 3.2.2). */
function findRoute(options: AgentServerOptions, request: IncomingMessage): { path: string; route: Route } {
  const target = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
  const path = target.split('?', 1)[0] ?? '';
  const route = options.find(path);
  if (request.httpVersion !== '1.0' && request.headers.host === undefined) {
    // RFC 9112, 3.2: such a request must be refused.
    throw agentErrors.INVALID_REQUEST({ details: { field: 'host', reason: 'The header Host is missing' } });
  }
  if (route !== null) return { path, route };
  throw agentErrors.NOT_FOUND({ details: { field: 'path', reason: 'no such path', what: 'The path' } });
}

function listen(server: Server, { host, port, portKey }: AgentServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? agentErrors.PORT_IN_USE({ details: { host, port, key: portKey }, cause: error }) : error);
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: { code: string; message: string; details: Record<string, unknown> } };
}

/** The contract's error body. An error outside the catalogue becomes INTERNAL, without its message. */
function errorAnswer(error: unknown): ErrorAnswer {
  const known: AppError = isAppError(error) ? error : agentErrors.INTERNAL({ cause: error });
  const { code, message, details, status, headers } = known;
  return { status, headers, body: { error: { code, message, details } } };
}
