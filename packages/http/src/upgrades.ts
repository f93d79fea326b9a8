import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { toAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import { httpErrors } from './errors.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { requestIdOf } from './request-id.ts';

export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  /** Bytes that came with the request's own packet. */
  head: Buffer;
  /** Parsed against a fixed base: only `pathname` and `searchParams` mean something. */
  url: URL;
  requestId: string;
}

export interface UpgradeRoute {
  /** Decides by path, by host, or by anything else in the head of the request. */
  matches(request: IncomingMessage, url: URL): boolean;
  /** Takes the socket over. What it throws before it writes is answered as an HTTP error. */
  handle(upgrade: UpgradeRequest): Promise<void>;
  render?: ErrorRenderer;
}

/** The one owner of `upgrade`: terminals, agent channels and tunnels register here and nowhere else. */
export class UpgradeRouter {
  readonly #routes: UpgradeRoute[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(route: UpgradeRoute): void {
    this.#routes.push(route);
  }

  /** The listener's `upgrade` handler. Never throws and never leaves a socket without an owner. */
  readonly dispatch = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy()); // a reset before the handler took over must not end the process
    const requestId = requestIdOf(request.headers);
    const url = URL.parse(request.url ?? '/', 'http://host');
    const route = url === null ? undefined : this.#routes.find((candidate) => candidate.matches(request, url));
    if (url === null || route === undefined) {
      refuseUpgrade(socket, httpErrors.NOT_FOUND(), requestId, renderFlatError);
      return;
    }
    route.handle({ request, socket, head, url, requestId }).catch((raw: unknown) => {
      const error = toAppError(raw);
      if (error.status >= 500) this.#log.error({ err: error.cause ?? error, request_id: requestId }, 'upgrade failed');
      refuseUpgrade(socket, error, requestId, route.render ?? renderFlatError);
    });
  };
}

/** Answers an upgrade request with an ordinary HTTP error and closes. */
export function refuseUpgrade(socket: Duplex, raw: unknown, requestId: string, render: ErrorRenderer): void {
  if (socket.destroyed || !socket.writable) return;
  const error = toAppError(raw);
  const body = JSON.stringify(render(error, requestId));
  const headers = {
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${head.join('')}\r\n${body}`);
}
