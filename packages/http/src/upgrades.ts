import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GrantedAccess, HeldRight, HeldRights } from '@svc/access';
import { toAppError, type AppError } from '@svc/errors';
import { redactText, type Logger } from '@svc/telemetry';
import { refuseSocket } from './client-errors.ts';
import { createClientOfRequest, type ClientOfRequest, type RequestClient } from './client-of-request.ts';
import { httpErrors } from './errors.ts';
import { NEVER_FORWARDED, noForwarding, type Forwarding, type Hop, type Owned } from './forwarding.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { resolveRequestId } from './request-id.ts';

/** An upgrade request and its socket. */
export interface UpgradeRequest {
  request: IncomingMessage;
  socket: Duplex;
  /** Bytes that arrived together with the request. */
  head: Buffer;
  /** Parsed against a fixed base: only `pathname` and `searchParams` are meaningful. */
  url: URL;
  requestId: string;
  /** The client, as resolved through trusted proxies. */
  client: RequestClient;
  /** Holds the right to the connection once granted: the socket ends if the right is revoked. */
  hold(right: HeldRight): UpgradeHold;
  /** Set if another replica authorized and forwarded the request; then this replica authorizes it again. */
  hop: Hop | null;
  /**
   * Passes the connection to the replica that holds this, and resolves to true if another one does: then nothing is
   * left to do here. Call it once the right is granted and held. The owner records the audit entry.
   */
  forward(owned: Owned, granted: GrantedAccess): Promise<boolean>;
}

/** The right to an upgraded connection. */
export interface UpgradeHold {
  /**
   * Sets how to announce revocation in the connection's protocol. The socket is cut shortly after, whatever the client
   * does.
   */
  farewell(say: (refusal: AppError) => void): void;
}

/** Handles the upgrades of one protocol. */
export interface UpgradeRoute {
  /** Identifies the route in logs and tests. */
  readonly name: string;
  /** `required`: the route holds a right for each upgraded socket. Otherwise, the reason why it needs none. */
  readonly hold: 'required' | { readonly exempt: string };
  /** The handler calls `forward`. Connections of other routes are never forwarded. */
  readonly forwards?: true;
  /** Matches by path, host or anything else in the request head. */
  matches(request: IncomingMessage, url: URL): boolean;
  /**
   * Takes over the socket, then resolves. Errors thrown before the first write are sent as HTTP errors. The listener's
   * idle timeout still applies; owners with their own liveness checks call `socket.setTimeout(0)`.
   */
  handle(upgrade: UpgradeRequest): Promise<void>;
  render?: ErrorRenderer;
  /** Ends open connections gracefully and soon; called when the listener closes. */
  drain?(): Promise<void> | void;
}

/** Single owner of the `upgrade` event: terminals, agent channels and tunnels all register here. */
export class UpgradeRouter {
  readonly #routes: UpgradeRoute[] = [];
  readonly #log: Logger;
  readonly #rights: HeldRights;
  readonly #clientOf: ClientOfRequest;
  readonly #forwarding: Forwarding;

  constructor(
    log: Logger,
    rights: HeldRights,
    clientOf: ClientOfRequest = createClientOfRequest(),
    forwarding: Forwarding = noForwarding,
  ) {
    this.#log = log;
    this.#rights = rights;
    this.#clientOf = clientOf;
    this.#forwarding = forwarding;
  }

  /** Registered routes, in matching order. */
  get routes(): readonly UpgradeRoute[] {
    return this.#routes;
  }

  add(route: UpgradeRoute): void {
    this.#routes.push(declared(route));
  }

  /** Adds a route that matches by host and takes precedence over all paths. */
  addFirst(route: UpgradeRoute): void {
    this.#routes.unshift(declared(route));
  }

  /** Ends all upgraded sockets gracefully; for a listener's `onClosing`. Never throws. */
  async drain(): Promise<void> {
    const results = await Promise.allSettled(this.#routes.map(async (route) => route.drain?.()));
    for (const result of results) {
      if (result.status === 'rejected') this.#log.error({ err: result.reason }, 'closing upgraded sockets failed');
    }
  }

  /** The listener's `upgrade` handler. Never throws, and never leaves a socket without an owner. */
  readonly dispatch = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy()); // a reset before the handler takes over must not crash the process
    const requestId = resolveRequestId(request.headers);
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
        else socket.destroy(); // it already speaks another protocol
      },
    );
  };

  async #handle(upgrade: BareUpgrade, onRoute: (render: ErrorRenderer) => void): Promise<void> {
    const url = URL.parse(upgrade.request.url ?? '/', 'http://host');
    const route = url === null ? undefined : this.#routes.find((each) => each.matches(upgrade.request, url));
    if (url === null || route === undefined) throw httpErrors.NOT_FOUND();
    if (route.render !== undefined) onRoute(route.render);
    const hop = this.#forwarding.hopOf(upgrade.request);
    if (hop !== null && route.forwards !== true) throw httpErrors.HOP_REFUSED(NEVER_FORWARDED);
    const before = writtenBytes(upgrade.socket);
    const isAnswered = (): boolean => writtenBytes(upgrade.socket) !== before;
    let held: UpgradeHold | null = null;
    const hold = (right: HeldRight): UpgradeHold => {
      const refuse = (refusal: AppError): void =>
        refuseUpgrade(upgrade.socket, refusal, upgrade.requestId, route.render ?? renderFlatError);
      return (held = this.#hold(upgrade, right, { isAnswered, refuse }));
    };
    const { requestId, client } = upgrade;
    const forward = (owned: Owned, granted: GrantedAccess): Promise<boolean> => {
      // The owner holds the same right and announces its end in the connection's protocol, at about the same time.
      held?.farewell(() => undefined);
      return this.#forwarding.forwardUpgrade(upgrade, { owned, granted, requestId, client });
    };
    await route.handle({ ...upgrade, url, hold, hop, forward });
    const isTaken = !upgrade.socket.destroyed && isAnswered();
    if (route.hold === 'required' && isTaken && held === null)
      throw new Error(`upgrade ${route.name} took a socket unheld`);
  }

  #hold({ socket, requestId }: BareUpgrade, right: HeldRight, { isAnswered, refuse }: Refusing): UpgradeHold {
    let say: ((refusal: AppError) => void) | null = null;
    const release = this.#rights.hold(right, (refusal) => {
      this.#log.info({ code: refusal.code, request_id: requestId }, 'a connection was ended: its right was revoked');
      if (!isAnswered()) refuse(refusal);
      // A farewell would queue behind unread output, and the client would still receive all of that.
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

/** How to refuse an upgrade until a response is sent. */
interface Refusing {
  isAnswered: () => boolean;
  refuse: (refusal: AppError) => void;
}

type BareUpgrade = Omit<UpgradeRequest, 'url' | 'hold' | 'hop' | 'forward'>;

/** Time for the client to receive a farewell. */
const FAREWELL_MS = 250;

/** Enforces `hold` for untyped callers. */
function declared(route: UpgradeRoute): UpgradeRoute {
  const { hold } = route as { hold?: UpgradeRoute['hold'] };
  if (hold === 'required' || (hold?.exempt ?? '') !== '') return route;
  throw new Error(`upgrade ${route.name} declares neither a hold nor why it needs none`);
}

/**
 * Answers an upgrade request with an HTTP error and closes the socket. If a response was already sent, destroy the
 * socket instead.
 */
export function refuseUpgrade(socket: Duplex, raw: unknown, requestId: string, render: ErrorRenderer): void {
  refuseSocket(socket, raw, requestId, render);
}

/** Bytes written to the socket, including for earlier requests of the same connection. */
function writtenBytes(socket: Duplex): number {
  return 'bytesWritten' in socket && typeof socket.bytesWritten === 'number' ? socket.bytesWritten : 0;
}
