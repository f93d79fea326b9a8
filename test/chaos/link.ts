import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  agent: Socket;
  platform: Socket;
}

/**
 * The network between an agent and its platform: passes bytes in order until a fault. The platform may return on
 * another port; the agent's address for it stays the same.
 */
export class FaultyLink {
  /** Null while there is no platform: connections are refused. */
  target: { host: string; port: number } | null = null;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** Sockets whose peer has silently gone. */
  readonly #abandoned = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (agent) => this.#accept(agent));
  }

  static async open(): Promise<FaultyLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultyLink(server);
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // a TCP listener's address is never a string
    return `http://127.0.0.1:${port}`;
  }

  /** Resets both ends; data in flight is lost. */
  cut(): number {
    const cut = [...this.#pairs];
    for (const { agent, platform } of cut) {
      agent.resetAndDestroy();
      platform.resetAndDestroy();
    }
    return cut.length;
  }

  /** Holds all data until the returned function is called, then passes it on in order. */
  stall(): () => void {
    const stalled = [...this.#pairs];
    for (const { agent, platform } of stalled) {
      agent.unpipe(platform);
      platform.unpipe(agent);
      agent.pause();
      platform.pause();
    }
    return () => {
      for (const pair of stalled) if (this.#pairs.has(pair)) join(pair);
    };
  }

  /** Silently disconnects both ends from each other. */
  halfOpen(): number {
    const pairs = [...this.#pairs];
    this.#pairs.clear();
    for (const { agent, platform } of pairs) {
      agent.unpipe(platform);
      platform.unpipe(agent);
      for (const socket of [agent, platform]) {
        this.#abandoned.add(socket);
        socket.removeAllListeners('close');
        socket.once('close', () => this.#abandoned.delete(socket));
        socket.resume(); // read and discarded
      }
    }
    return pairs.length;
  }

  async close(): Promise<void> {
    this.cut();
    for (const socket of this.#abandoned) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(agent: Socket): void {
    agent.on('error', () => undefined); // `close` follows
    if (this.target === null) {
      agent.resetAndDestroy();
      return;
    }
    const platform = connect(this.target);
    platform.on('error', () => undefined);
    const pair = { agent, platform };
    this.#pairs.add(pair);
    const end = (): void => {
      this.#pairs.delete(pair);
      agent.destroy();
      platform.destroy();
    };
    agent.once('close', end);
    platform.once('close', end);
    join(pair);
  }
}

function join({ agent, platform }: Pair): void {
  agent.pipe(platform);
  platform.pipe(agent);
}
