import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientErrorOf, isAboutHttp, refuseSocket } from './client-errors.ts';
import { Connections, type Exchange } from './connections.ts';
import { continueOnFirstRead } from './expect-continue.ts';
import { DEFAULT_LISTENER_LIMITS, type ListenerLimits } from './listener-limits.ts';
import { renderFlatError, type ErrorRenderer } from './renderers.ts';
import { requestIdOf } from './request-id.ts';
import { cutSlowBodies } from './slow-bodies.ts';

export interface ListenerOptions {
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Present: the listener speaks TLS. */
  tls?: TlsServerOptions;
  limits?: Partial<ListenerLimits>;
  /** Last word on the server's own options and events, such as `checkContinue`. */
  configure?: (server: Server) => void;
  /**
   * Closing has begun: owners of upgraded sockets end them politely now. Those that are still open when it settles, or
   * at the end of the grace, are cut.
   */
  onClosing?: () => Promise<void> | void;
  /** Ends a request whose body comes too slowly, perhaps with an answer; cut without one by default. */
  onSlowBody?: (exchange: Exchange) => void;
  /** How a request is refused that is no HTTP at all; flat by default. */
  renderError?: ErrorRenderer;
}

export interface Listener {
  readonly server: Server;
  listen(port: number, host: string): Promise<number>;
  /**
   * Stops accepting, closes what is idle, lets running requests end, then cuts what is left after `graceMs`. Upgraded
   * sockets are cut as soon as `onClosing` has settled. A second call waits for the first.
   */
  close(graceMs: number): Promise<void>;
  connectionCount(): number;
}

export function createListener(options: ListenerOptions): Listener {
  const limits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits };
  const connections = new Connections();
  const server = createHttpServer(options, limits);
  connections.watch(server);
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
    // How often late heads are looked for: a client has at most a quarter more than its time.
    connectionsCheckingInterval: Math.min(5_000, Math.max(10, limits.headersTimeoutMs / 4)),
    noDelay: true,
    // Two readings of one request are how requests are smuggled past a proxy (RFC 9112, section 11.2).
    insecureHTTPParser: false,
    requireHostHeader: true,
    // `curl --http2` and others offer this with every request; it is an ordinary request all the same.
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
          ...options.tls,
        });
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  return server;
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
      // In the middle of an answer there is no place for another one, and before TLS stands there is none at all.
      if (connections.isAnswering(socket) || !isAboutHttp(error)) socket.destroy(error);
      else refuseSocket(socket, clientErrorOf(error), requestIdOf({}), renderError);
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
