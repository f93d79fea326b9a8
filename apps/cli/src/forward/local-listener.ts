import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams, MuxError, type MuxStream } from '@svc/mux';

export interface LocalListener {
  readonly port: number;
  /** Stops accepting and ends open connections. */
  close(): Promise<void>;
}

/** Listens on this machine and calls `open` for each connection. */
export async function listenLocally(
  address: { host: string; port: number },
  open: () => Promise<MuxStream>,
  onFault: (reason: string) => void,
): Promise<LocalListener> {
  const sockets = new Set<Socket>();
  // Half-open like its payload: a client may end its request and still await the response.
  const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // the joined stream handles the close
    carry(socket, open, onFault).catch((error: unknown) => {
      onFault(error instanceof Error ? error.message : String(error));
      socket.destroy();
    });
  });
  await listen(server, address);
  return {
    port: (server.address() as AddressInfo).port, // a TCP listener
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function carry(socket: Socket, open: () => Promise<MuxStream>, onFault: (reason: string) => void): Promise<void> {
  const stream = await open();
  await joinStreams(socket, stream, (from: Duplex, to: Duplex, error) => {
    if (from === stream && error instanceof MuxError && error.remote && error.reason !== '') onFault(error.reason);
    if (to === socket) socket.resetAndDestroy();
    else to.destroy();
  });
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
