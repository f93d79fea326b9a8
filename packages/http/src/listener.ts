import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { toClientError, isAboutHttp, refuseSocket } from './client-errors.ts';
import { shareConnections, type ConnectionSharesOptions } from './connection-shares.ts';
import { Connections, type Exchange } from './connections.ts';
import { continueOnFirstRead } from './expect-continue.ts';
import { Http2Sessions } from './http2/http2-sessions.ts';
import { DEFAULT_LISTENER_LIMITS, type ListenerLimits } from './listener-limits.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { resolveRequestId } from './request-id.ts';
import { cutSlowBodies } from './slow-bodies.ts';

/** Options of a listener. */
export interface ListenerOptions {
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Enables TLS. */
  tls?: TlsServerOptions;
  /**
   * Offers HTTP/2 to TLS clients, which then need HTTP/1.1 for upgrades only. The handler gets the same requests and
   * responses; `configure` works on connections, `shares` on connections and on requests in progress.
   */
  http2?: boolean;
  limits?: Partial<ListenerLimits>;
  /** How clients share the connections. By default no proxy is trusted. */
  shares?: ConnectionSharesOptions;
  /** Overrides the server's options and events, such as `checkContinue`. */
  configure?: (server: Server) => void;
  /**
   * Called when closing begins: owners of upgraded sockets end them gracefully. Sockets still open when the promise
   * settles, or at the end of the grace period, are cut.
   */
  onClosing?: () => Promise<void> | void;
  /** Ends a request whose body arrives too slowly, optionally with a response. By default the connection is cut. */
  onSlowBody?: (exchange: Exchange) => void;
  /** Renders the error for requests that are not valid HTTP; flat by default. */
  renderError?: ErrorRenderer;
}

/** An HTTP or HTTPS server with bounded connections and a graceful close. */
export interface Listener {
  readonly server: Server;
  listen(port: number, host: string): Promise<number>;
  /** Ends each connection with its next response, so that its client connects elsewhere. Still accepts connections. */
  announceClose(): void;
  /**
   * Stops accepting, closes idle connections, drains running requests, then cuts the rest after `graceMs`. Upgraded
   * sockets are cut as soon as `onClosing` settles. A second call waits for the first.
   */
  close(graceMs: number): Promise<void>;
  connectionCount(): number;
}

/** Creates a listener without binding it to a port. */
export function createListener(options: ListenerOptions): Listener {
  const limits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits };
  const connections = new Connections();
  const server = createHttpServer(options, limits);
  const sessions = options.http2 === true ? takeHttp2(server, connections, options, limits) : undefined;
  connections.watch(server, sessions);
  shareConnections(server, limits.maxConnections, options.shares ?? {});
  attachHandlers(server, connections, options);
  const stopCutting = cutSlowBodies(() => connections.exchanges(), limits, options.onSlowBody);

  let closing: Promise<void> | undefined;
  const close = (graceMs: number): Promise<void> => {
    closing ??= closeGracefully(server, connections, options.onClosing, graceMs).finally(stopCutting);
    return closing;
  };
  return {
    server,
    listen: (port, host) => listen(server, port, host),
    announceClose: () => connections.announceClose(),
    close,
    connectionCount: () => connections.count,
  };
}

function createHttpServer(options: ListenerOptions, limits: ListenerLimits): Server {
  const common: ServerOptions = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderSizeBytes,
    // Interval for finding late headers: a client has at most a quarter more than its time limit.
    connectionsCheckingInterval: Math.min(5_000, Math.max(10, limits.headersTimeoutMs / 4)),
    noDelay: true,
    // Ambiguous requests enable request smuggling past a proxy (RFC 9112, section 11.2).
    insecureHTTPParser: false,
    requireHostHeader: true,
    // `curl --http2` and others offer h2c with every request; treat it as an ordinary request.
    shouldUpgradeCallback: (request) =>
      options.onUpgrade !== undefined && !/^h2c$/i.test(request.headers.upgrade ?? ''),
  };
  const server: Server =
    options.tls === undefined
      ? createServer(common)
      : createTlsServer({
          ...common,
          handshakeTimeout: limits.headersTimeoutMs,
          minVersion: 'TLSv1.2',
          ...(options.http2 === true ? { ALPNProtocols: ['h2', 'http/1.1'] } : {}),
          ...options.tls,
        });
  server.maxConnections = limits.maxConnections + (options.shares?.maxHandshakes ?? 0);
  server.setTimeout(limits.idleTimeoutMs);
  return server;
}

/** Gives TLS sockets that negotiated HTTP/2 to sessions, before the HTTP/1 server sees them. */
function takeHttp2(
  server: Server,
  connections: Connections,
  { handler, shares = {}, renderError = renderFlatError }: ListenerOptions,
  limits: ListenerLimits,
): Http2Sessions {
  const sessions = new Http2Sessions({
    limits,
    shares,
    renderError,
    onRequest: (http2Request, http2Response) => {
      // They have what handlers use of these classes, whose constructors need the parser of HTTP/1.
      const request = http2Request as unknown as IncomingMessage;
      const response = http2Response as unknown as ServerResponse;
      connections.began(request, response);
      if (request.headers.expect?.toLowerCase() === '100-continue') continueOnFirstRead(request, response);
      handler(request, response);
    },
  });
  const http1Handlers = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') sessions.begin(socket);
    else for (const handle of http1Handlers) handle.call(server, socket);
  });
  return sessions;
}

function attachHandlers(server: Server, connections: Connections, options: ListenerOptions): void {
  const { handler, onUpgrade, configure, renderError = renderFlatError } = options;
  server.on('request', (request, response) => {
    connections.began(request, response);
    handler(request, response);
  });
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      connections.upgraded(socket);
      onUpgrade(request, socket, head);
    });
  }
  configure?.(server);
  if (server.listenerCount('checkContinue') === 0) {
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      continueOnFirstRead(request, response);
      server.emit('request', request, response);
    });
  } else {
    server.prependListener('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      connections.began(request, response);
    });
  }
  if (server.listenerCount('clientError') === 0) {
    server.on('clientError', (error: Error, socket: Duplex) => {
      // An error cannot be sent in the middle of a response or before the TLS handshake completes.
      if (connections.isAnswering(socket) || !isAboutHttp(error)) socket.destroy(error);
      else refuseSocket(socket, toClientError(error), resolveRequestId({}), renderError);
    });
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve((server.address() as AddressInfo).port); // a TCP listener's address is never a string
    });
  });
}

async function closeGracefully(
  server: Server,
  connections: Connections,
  onClosing: ListenerOptions['onClosing'],
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  connections.beginClosing();
  try {
    await Promise.race([Promise.resolve().then(onClosing), deadline]);
  } finally {
    connections.cutUpgraded();
    await Promise.race([closed, deadline]);
    clearTimeout(timer);
    connections.cutAll();
    await closed;
  }
}
