import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Takes an accepted connection from an address inside. */
export type AcceptConnection = (socket: Socket, from: string, isSecure: boolean) => void;

/** Two listening sockets on the gateway's address, to which the firewall redirects HTTPS and HTTP of sandboxes with rules. */
export class GatewayListener {
  readonly securePort: number;
  readonly plainPort: number;
  readonly #servers: readonly Server[];

  private constructor(servers: readonly [secure: Server, plain: Server]) {
    this.#servers = servers;
    this.securePort = portOf(servers[0]);
    this.plainPort = portOf(servers[1]);
  }

  static async open(address: string, accept: AcceptConnection): Promise<GatewayListener> {
    const secure = await listen(address, (socket) => accept(socket, socket.remoteAddress ?? '', true));
    try {
      return new GatewayListener([
        secure,
        await listen(address, (socket) => accept(socket, socket.remoteAddress ?? '', false)),
      ]);
    } catch (error) {
      secure.close();
      throw error;
    }
  }

  /** Stops listening. Accepted connections belong to who took them. */
  close(): void {
    for (const server of this.#servers) server.close();
  }
}

async function listen(address: string, accept: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ noDelay: true }, accept);
  server.listen(0, address);
  await once(server, 'listening');
  server.on('error', () => undefined);
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
