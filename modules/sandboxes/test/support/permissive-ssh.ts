import { once, type EventEmitter } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';

type Accept<Result> = () => Result;
type Answer = (() => void) | undefined;

interface Channel extends Duplex {
  exit(code: number): void;
}

interface SocketTarget {
  readonly socketPath: string;
}

interface PortTarget {
  readonly destIP: string;
  readonly destPort: number;
}

/** The server of ssh2 with the requests that the listener's types leave out. */
const { Server } = ssh2 as unknown as {
  Server: new (
    options: { hostKeys: readonly string[] },
    listener: (client: EventEmitter) => void,
  ) => { injectSocket(socket: Socket): void };
};

export interface PermissiveSsh {
  readonly port: number;
  close(): Promise<void>;
}

/** Grants everybody every request: what an SSH server without the rules of ours would do. */
export async function startPermissiveSsh(): Promise<PermissiveSsh> {
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519');
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    new Server({ hostKeys: [hostKey] }, serve).injectSocket(socket);
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (listener.address() as AddressInfo).port, // of a TCP listener
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function serve(client: EventEmitter): void {
  client.on('error', () => undefined); // the client may cut the connection
  client.on('authentication', (context: { accept(): void }) => context.accept());
  client.on('request', (accept: Answer) => accept?.());
  client.on('tcpip', (accept: Accept<Duplex>, _reject: unknown, { destIP: host, destPort: port }: PortTarget) =>
    join(accept(), connect({ host, port })),
  );
  client.on('openssh.streamlocal', (accept: Accept<Duplex>, _reject: unknown, { socketPath: path }: SocketTarget) =>
    join(accept(), connect({ path })),
  );
  client.on('session', (acceptSession: Accept<EventEmitter>) => {
    const session = acceptSession();
    for (const request of ['x11', 'auth-agent', 'env', 'pty']) session.on(request, (accept: Answer) => accept?.());
    for (const request of ['exec', 'subsystem', 'shell']) {
      session.on(request, (accept: Accept<Channel>) => {
        const channel = accept();
        channel.exit(0);
        channel.end();
      });
    }
  });
}

function join(channel: Duplex, socket: Socket): void {
  channel.on('error', () => undefined);
  socket.on('error', () => channel.destroy());
  socket.pipe(channel).pipe(socket);
}
