import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy in front of a server, to take the server away and bring it back. */
export interface CuttableProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections open at the moment. */
  readonly connections: number;
  /** Resets all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port, and passes everything on without delay. Ends silent connections. */
  restore(): Promise<void>;
  /** Delays what clients send from now on by this, on open connections too, until `restore`. */
  slow(roundTripMs: number): void;
  /**
   * Like a network that drops packets: connections stay open, but no byte arrives in either direction. `open`: only
   * those that are open now; `all`: new ones too, until `restore`.
   */
  silence(which: 'open' | 'all'): void;
}

/** Host and port are read for each connection, so an object with getters can send new connections elsewhere. */
export interface CuttableProxyOptions {
  readonly host: string;
  readonly port: number;
  /** Delays the bytes from the client by this: a network's round trip. Timers are not finer than a millisecond. */
  readonly roundTripMs?: number;
  /** Called with the bytes of each packet from the client. Returning `cut` resets that connection instead. */
  readonly onClientData?: (bytes: Buffer) => 'cut' | 'pass';
}

/** Starts a proxy on a free port of 127.0.0.1. */
export async function startCuttableProxy(options: CuttableProxyOptions): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  /** Whether new connections are silent, and whether any connection is. */
  let isSilent = false;
  let hasSilent = false;
  let delayMs = options.roundTripMs ?? 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  };
  const accept = (client: Socket): void => {
    const server = connect(options.port, options.host);
    for (const socket of [client, server]) {
      keep(socket);
      if (isSilent) silent.add(socket);
    }
    const delayed: Buffer[] = [];
    client.on('data', (bytes: Buffer) => {
      if (silent.has(client)) return;
      if (options.onClientData?.(bytes) === 'cut') reset(client, server);
      else if (delayMs === 0 && delayed.length === 0) server.write(bytes);
      else {
        delayed.push(bytes); // each timer sends the oldest, so a changed delay keeps the order
        setTimeout(() => server.write(delayed.shift() ?? ''), delayMs);
      }
    });
    if (isSilent) server.resume();
    else server.pipe(client);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
  };
  let listener = createServer(accept);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo; // a TCP server has no other kind of address
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => listener.close(resolve)); // also if it was closed before
    reset(...sockets);
    await closed;
  };
  return {
    port,
    get connections() {
      return sockets.size / 2;
    },
    cut,
    restore: async () => {
      delayMs = options.roundTripMs ?? 0;
      if (listener.listening && !hasSilent) return;
      if (listener.listening) await cut();
      isSilent = hasSilent = false;
      listener = createServer(accept);
      listener.listen(port, '127.0.0.1');
      await once(listener, 'listening');
    },
    slow: (roundTripMs) => {
      delayMs = roundTripMs;
    },
    silence: (which) => {
      isSilent = which === 'all';
      hasSilent = true;
      for (const socket of sockets) {
        silent.add(socket);
        socket.unpipe().resume(); // reads and drops
      }
    },
    [Symbol.asyncDispose]: cut,
  };
}

function reset(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.resetAndDestroy();
}
