import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy in front of a platform that drops connections on demand, in the middle of any transfer. */
export interface CutProxy extends AsyncDisposable {
  readonly url: string;
  /** Number of accepted connections. */
  readonly accepted: number;
  cut(): void;
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((incoming) => {
    accepted += 1;
    const outgoing = connect(Number(port), hostname);
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(socket);
      socket.on('error', () => undefined); // `close` follows
      socket.once('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = server.address() as AddressInfo; // it listens on TCP
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  const close = async (): Promise<void> => {
    server.close();
    cut();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${own}`,
    get accepted() {
      return accepted;
    },
    cut,
    [Symbol.asyncDispose]: close,
  };
}
