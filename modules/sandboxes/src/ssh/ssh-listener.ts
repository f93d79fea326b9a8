import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { addressKey, resolveRequestId } from '@svc/http';
import { SshConnection, type SshConnectionDeps } from './ssh-connection.ts';
import { describeHostKey, type HostKey } from './ssh-keys.ts';

/** Time to log in, as for other SSH servers. */
const LOGIN_MS = 30_000;
const MAX_CONNECTIONS = 1_000;
/** Clients that have not logged in: in total, and from one address. */
const MAX_STRANGERS = 100;
const MAX_STRANGERS_PER_ADDRESS = 10;

export interface SshListenerOptions {
  /** Loads the private key that identifies this installation. */
  readonly hostKey: () => Promise<string>;
}

interface Open {
  readonly connection: SshConnection;
  readonly socket: Socket;
  readonly address: string;
  hasLoggedIn: boolean;
}

/** Where clients find the listener. */
export interface SshAddress extends HostKey {
  readonly port: number;
}

/** Accepts SSH connections to sandboxes, and owns their sockets. */
export class SshListener {
  readonly #deps: SshConnectionDeps;
  readonly #options: SshListenerOptions;
  readonly #server: Server;
  readonly #open = new Set<Open>();
  #hostKey = '';
  #address: SshAddress | null = null;
  #closing: Promise<void> | undefined;

  constructor(deps: SshConnectionDeps, options: SshListenerOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#server = createServer({ noDelay: true, keepAlive: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Null until the listener is open. */
  get address(): SshAddress | null {
    return this.#address;
  }

  async listen(port: number, host: string): Promise<number> {
    this.#hostKey = await this.#options.hostKey();
    const key = describeHostKey(this.#hostKey);
    const opened = await new Promise<number>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port); // a TCP listener's address is never a string
      });
    });
    this.#address = { ...key, port: opened };
    this.#deps.log.info({ port: opened, fingerprint: key.fingerprint }, 'SSH to sandboxes is on');
    return opened;
  }

  /** A client cannot be told to use another connection for what comes next, so this does nothing. */
  announceClose(): void {}

  /** Stops accepting and ends every connection. What still runs in a sandbox ends with it. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  connectionCount(): number {
    return this.#open.size;
  }

  async #close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { connection } of this.#open) connection.end();
    await closed;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy()); // a reset must not crash the process
    const remoteAddress = socket.remoteAddress ?? '';
    const address = addressKey(remoteAddress);
    if (this.#isRefused(address) || this.#deps.login.isBlocked(remoteAddress)) {
      socket.destroy();
      return;
    }
    const cancel = this.#deps.clock.setTimer(() => socket.destroy(), LOGIN_MS);
    const onLogin = (): void => {
      cancel();
      open.hasLoggedIn = true;
    };
    const connection = new SshConnection(this.#deps, {
      socket,
      remoteAddress,
      requestId: resolveRequestId({}),
      hostKey: this.#hostKey,
      onLogin,
    });
    const open: Open = { connection, socket, address, hasLoggedIn: false };
    this.#open.add(open);
    socket.once('close', () => {
      cancel();
      this.#open.delete(open);
    });
  }

  #isRefused(address: string): boolean {
    const strangers = [...this.#open].filter(({ hasLoggedIn }) => !hasLoggedIn);
    if (this.#closing !== undefined || strangers.length >= MAX_STRANGERS) return true;
    return strangers.filter((each) => each.address === address).length >= MAX_STRANGERS_PER_ADDRESS;
  }
}
