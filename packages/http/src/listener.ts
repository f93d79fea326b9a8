import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface ListenerLimits {
  /** Time for the whole head of a request; a slower client is cut (slowloris). */
  headersTimeoutMs: number;
  /** Time for the whole request, body included; 0 = none, for uploads that are bounded by `idleTimeoutMs`. */
  requestTimeoutMs: number;
  keepAliveTimeoutMs: number;
  /** A socket with no byte in either direction for this long is cut. */
  idleTimeoutMs: number;
  maxConnections: number;
  maxHeaderSizeBytes: number;
}

export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 0,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  maxConnections: 20_000,
  maxHeaderSizeBytes: 32 * 1024,
};

export interface ListenerOptions {
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Present: the listener speaks TLS. */
  tls?: TlsServerOptions;
  limits?: Partial<ListenerLimits>;
  /** Last word on the server's own options and events, such as `checkContinue`. */
  configure?: (server: Server) => void;
}

export interface Listener {
  readonly server: Server;
  listen(port: number, host: string): Promise<number>;
  /** Stops accepting, lets running requests end, then cuts what is left after `graceMs`. Upgraded sockets are cut. */
  close(graceMs: number): Promise<void>;
  connectionCount(): number;
}

export function createListener(options: ListenerOptions): Listener {
  const limits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits };
  const common: ServerOptions = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderSizeBytes,
    connectionsCheckingInterval: 5_000,
    noDelay: true,
  };
  const server: Server =
    options.tls === undefined
      ? createServer(common, options.handler)
      : createTlsServer({ ...common, ...options.tls }, options.handler);
  server.maxConnections = limits.maxConnections;
  server.setTimeout(limits.idleTimeoutMs);
  if (options.onUpgrade !== undefined) server.on('upgrade', options.onUpgrade);
  options.configure?.(server);

  const sockets = new Set<Socket>();
  server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return {
    server,
    listen: (port, host) => listen(server, port, host),
    close: (graceMs) => closeGracefully(server, sockets, graceMs),
    connectionCount: () => sockets.size,
  };
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

async function closeGracefully(server: Server, sockets: Set<Socket>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([closed, deadline]);
  clearTimeout(timer);
  for (const socket of sockets) socket.destroy();
  server.closeAllConnections();
  await closed;
}
