import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The HTTP/2 connections of a listener, which end by themselves. */
export interface SessionHolder {
  has(socket: unknown): boolean;
  announceClose(): void;
}

/** A request in progress. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The open sockets of a listener, by state, and the requests in progress on them. */
export class Connections {
  /** All accepted sockets, whatever their protocol; with TLS, including those in their handshake. */
  readonly #accepted = new Set<Socket>();
  /** Requests in progress by socket; more than one if the client pipelines. */
  readonly #running = new Map<Duplex, Set<Exchange>>();
  /** TLS sockets; each wraps a socket in `#accepted`. */
  readonly #secured = new Map<string, Socket>();
  readonly #upgraded = new Set<Duplex>();
  #http2: SessionHolder | undefined;
  #closing = false;
  #isLeaving = false;

  /** Registers the server's sockets. Requests and upgrades are registered one by one. */
  watch(server: Server, http2?: SessionHolder): void {
    this.#http2 = http2;
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
    });
    server.on('secureConnection', (socket: Socket) => {
      const key = endpointOf(socket);
      this.#secured.set(key, socket);
      socket.once('close', () => this.#secured.delete(key));
    });
  }

  get count(): number {
    return this.#accepted.size;
  }

  exchanges(): Iterable<Exchange> {
    return this.#running.values().flatMap((exchanges) => exchanges.values());
  }

  isAnswering(socket: Duplex): boolean {
    return [...(this.#running.get(socket) ?? [])].some(({ response }) => response.headersSent);
  }

  began(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const exchange = { request, response };
    const exchanges = this.#running.get(socket) ?? new Set();
    exchanges.add(exchange);
    this.#running.set(socket, exchanges);
    if (this.#isLeaving) endAfterAnswer(response);
    response.once('close', () => {
      exchanges.delete(exchange);
      if (exchanges.size > 0) return;
      this.#running.delete(socket);
      if (this.#closing) socket.destroySoon();
    });
  }

  upgraded(socket: Duplex): void {
    this.#upgraded.add(socket);
    socket.once('close', () => this.#upgraded.delete(socket));
  }

  /** Ends each connection after its next response. */
  announceClose(): void {
    this.#isLeaving = true;
    this.#http2?.announceClose();
    for (const { response } of this.exchanges()) endAfterAnswer(response);
  }

  /** Closes idle connections; those with a running request close after its response. */
  beginClosing(): void {
    this.#closing = true;
    this.announceClose();
    for (const socket of this.#accepted) {
      const spoken = this.#secured.get(endpointOf(socket)) ?? socket;
      if (this.#http2?.has(spoken) === true) continue; // sessions end their sockets
      if (!this.#running.has(spoken) && !this.#upgraded.has(spoken)) socket.destroy();
    }
  }

  cutUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  cutAll(): void {
    for (const socket of this.#accepted) socket.destroy();
    this.#accepted.clear();
  }
}

function endAfterAnswer(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}

/** Identifies a connection, both as TCP and as TLS socket. */
export function endpointOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ''} ${socket.remotePort ?? 0}`;
}
