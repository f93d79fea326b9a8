import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { toAppError, type AppError } from '@svc/errors';
import { redactText, type Logger } from '@svc/telemetry';
import { refuseSocket } from './client-errors.ts';
import { createClientOfRequest, type ClientOfRequest, type RequestClient } from './client-of-request.ts';
import { httpErrors } from './errors.ts';
import type { HeldRight, HeldRights } from './held-rights.ts';
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
  /** Who asks, seen past trusted proxies. */
  client: RequestClient;
  /** Holds the right to the connection, as soon as it is granted: the socket ends with the right. */
  hold(right: HeldRight): UpgradeHold;
}

/** The right to an upgraded connection. */
export interface UpgradeHold {
  /** How the protocol says that the right is gone. The socket is cut a moment later, whatever the client does. */
  farewell(say: (refusal: AppError) => void): void;
}

export interface UpgradeRoute {
  /** Tells the route from others, in the log and in tests. */
  readonly name: string;
  /** `required`: the route holds a right for each socket that it takes over. Else the reason why it needs none. */
  readonly hold: 'required' | { readonly exempt: string };
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
  readonly #rights: HeldRights;
  readonly #clientOf: ClientOfRequest;

  constructor(log: Logger, rights: HeldRights, clientOf: ClientOfRequest = createClientOfRequest()) {
    this.#log = log;
    this.#rights = rights;
    this.#clientOf = clientOf;
  }

  /** What is registered, in the order in which it is asked. */
  get routes(): readonly UpgradeRoute[] {
    return this.#routes;
  }

  add(route: UpgradeRoute): void {
    this.#routes.push(declared(route));
  }

  /** For one that decides by host: what is asked of that host is nobody else's, whatever its path. */
  addFirst(route: UpgradeRoute): void {
    this.#routes.unshift(declared(route));
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
    const client = this.#clientOf(request);
    const before = writtenBytes(socket);
    let render: ErrorRenderer = renderFlatError;
    const settle = (status: number): void => {
      const url = redactText(request.url ?? '').slice(0, 1024);
      const remote = client.remoteAddress;
      this.#log.info({ request_id: requestId, method: request.method, url, status, remote }, 'upgrade');
    };
    this.#handle({ request, socket, head, requestId, client }, (chosen) => (render = chosen)).then(
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

  async #handle(upgrade: BareUpgrade, onRoute: (render: ErrorRenderer) => void): Promise<void> {
    const url = URL.parse(upgrade.request.url ?? '/', 'http://host');
    const route = url === null ? undefined : this.#routes.find((each) => each.matches(upgrade.request, url));
    if (url === null || route === undefined) throw httpErrors.NOT_FOUND();
    if (route.render !== undefined) onRoute(route.render);
    const before = writtenBytes(upgrade.socket);
    const isAnswered = (): boolean => writtenBytes(upgrade.socket) !== before;
    let isHeld = false;
    const hold = (right: HeldRight): UpgradeHold => {
      isHeld = true;
      const refuse = (refusal: AppError): void =>
        refuseUpgrade(upgrade.socket, refusal, upgrade.requestId, route.render ?? renderFlatError);
      return this.#hold(upgrade, right, { isAnswered, refuse });
    };
    await route.handle({ ...upgrade, url, hold });
    const isTaken = !upgrade.socket.destroyed && isAnswered();
    if (route.hold === 'required' && isTaken && !isHeld) throw new Error(`upgrade ${route.name} took a socket unheld`);
  }

  #hold({ socket, requestId }: BareUpgrade, right: HeldRight, { isAnswered, refuse }: Refusing): UpgradeHold {
    let say: ((refusal: AppError) => void) | null = null;
    const release = this.#rights.hold(right, (refusal) => {
      this.#log.info({ code: refusal.code, request_id: requestId }, 'an upgrade was ended: the right to it is gone');
      if (!isAnswered()) refuse(refusal);
      // A farewell would wait behind what the client has not taken yet, and all of that would still be delivered.
      else if (say === null || socket.writableLength > 0) socket.destroy();
      else {
        const cut = setTimeout(() => socket.destroy(), FAREWELL_MS);
        socket.once('close', () => clearTimeout(cut));
        say(refusal);
      }
    });
    socket.once('close', release);
    if (socket.destroyed) release();
    return { farewell: (chosen) => void (say = chosen) };
  }
}

/** How an upgrade is refused as long as nothing was answered. */
interface Refusing {
  isAnswered: () => boolean;
  refuse: (refusal: AppError) => void;
}

type BareUpgrade = Omit<UpgradeRequest, 'url' | 'hold'>;

/** A client has this long to take a farewell. */
const FAREWELL_MS = 250;

/** The type says it already; this is for what comes from elsewhere. */
function declared(route: UpgradeRoute): UpgradeRoute {
  const { hold } = route as { hold?: UpgradeRoute['hold'] };
  if (hold === 'required' || (hold?.exempt ?? '') !== '') return route;
  throw new Error(`upgrade ${route.name} declares neither a hold nor why it needs none`);
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
