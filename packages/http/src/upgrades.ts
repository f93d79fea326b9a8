import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { toAppError } from '@svc/errors';
import { redactText, type Logger } from '@svc/telemetry';
import { refuseSocket } from './client-errors.ts';
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
  /**
   * Takes the socket over, and settles when it has. What it throws before it writes is answered as an HTTP error. The
   * listener's idle cut stays: an owner with a liveness of its own calls `socket.setTimeout(0)`.
   */
  handle(upgrade: UpgradeRequest): Promise<void>;
  render?: ErrorRenderer;
  /** The listener closes: end what is open, politely and soon. */
  drain?(): Promise<void> | void;
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

  /** For one that decides by host: what is asked of that host is nobody else's, whatever its path. */
  addFirst(route: UpgradeRoute): void {
    this.#routes.unshift(route);
  }

  /** Every owner ends its sockets politely: for the `onClosing` of a listener. Never throws. */
  async drain(): Promise<void> {
    const results = await Promise.allSettled(this.#routes.map(async (route) => route.drain?.()));
    for (const result of results) {
      if (result.status === 'rejected') this.#log.error({ err: result.reason }, 'closing upgraded sockets failed');
    }
  }

  /** The listener's `upgrade` handler. Never throws and never leaves a socket without an owner. */
  readonly dispatch = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy()); // a reset before the handler took over must not end the process
    const requestId = requestIdOf(request.headers);
    const before = writtenBytes(socket);
    let render: ErrorRenderer = renderFlatError;
    const settle = (status: number): void => {
      const url = redactText(request.url ?? '').slice(0, 1024);
      const { remoteAddress: remote } = request.socket;
      this.#log.info({ request_id: requestId, method: request.method, url, status, remote }, 'upgrade');
    };
    this.#handle({ request, socket, head, requestId }, (chosen) => (render = chosen)).then(
      () => settle(101),
      (raw: unknown) => {
        const error = toAppError(raw);
        if (error.status >= 500) {
          const err = error.code === 'internal_error' ? (error.cause ?? error) : error;
          this.#log.error({ err, request_id: requestId }, 'upgrade failed');
        }
        settle(error.status);
        if (writtenBytes(socket) === before) refuseUpgrade(socket, error, requestId, render);
        else socket.destroy(); // it speaks another protocol by now
      },
    );
  };

  async #handle(upgrade: Omit<UpgradeRequest, 'url'>, onRoute: (render: ErrorRenderer) => void): Promise<void> {
    const url = URL.parse(upgrade.request.url ?? '/', 'http://host');
    const route = url === null ? undefined : this.#routes.find((each) => each.matches(upgrade.request, url));
    if (url === null || route === undefined) throw httpErrors.NOT_FOUND();
    if (route.render !== undefined) onRoute(route.render);
    await route.handle({ ...upgrade, url });
  }
}

/**
 * Answers an upgrade request with an ordinary HTTP error and closes. On a socket that has been answered already it does
 * harm: then destroy it.
 */
export function refuseUpgrade(socket: Duplex, raw: unknown, requestId: string, render: ErrorRenderer): void {
  refuseSocket(socket, raw, requestId, render);
}

/** What was written on the socket so far; earlier requests of the same connection count too. */
function writtenBytes(socket: Duplex): number {
  return 'bytesWritten' in socket && typeof socket.bytesWritten === 'number' ? socket.bytesWritten : 0;
}
