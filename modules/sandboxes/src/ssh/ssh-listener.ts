import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { AppError } from '@svc/errors';
import { AddressShares } from '@svc/addresses';
import { resolveRequestId } from '@svc/http';
import type { QuotaLimits } from '@svc/quotas';
import { Shares } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';
import { SshConnection, type SshConnectionDeps } from './ssh-connection.ts';
import { describeHostKey, type HostKey } from './ssh-keys.ts';
import type { SshGrant } from './ssh-login.ts';

/** Time to log in, as for other SSH servers. */
const LOGIN_MS = 30_000;
/** Clients that have not logged in: in total, of which a network has a share, and from one address. */
const MAX_STRANGERS = 100;
const MAX_STRANGERS_PER_ADDRESS = 10;

export interface SshListenerOptions {
  /** Loads the private key that identifies this installation. */
  readonly hostKey: () => Promise<string>;
  /** Maximum clients that have logged in, of which each workspace and owner has a share. */
  readonly maxConnections: number;
  readonly quotaLimits: QuotaLimits;
}

interface Open {
  readonly connection: SshConnection;
  readonly socket: Socket;
  /** Ends what is counted for the connection. */
  leave: () => void;
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
  readonly #strangers = new AddressShares({ capacity: MAX_STRANGERS, perAddress: MAX_STRANGERS_PER_ADDRESS });
  readonly #clients: Shares;
  #hostKey = '';
  #address: SshAddress | null = null;
  #closing: Promise<void> | undefined;

  constructor(deps: SshConnectionDeps, options: SshListenerOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#server = createServer({ noDelay: true, keepAlive: true }, (socket) => this.#accept(socket));
    const { maxConnections, quotaLimits } = options;
    this.#clients = new Shares({
      capacity: maxConnections,
      groupOf: quotaLimits.shareOf,
      holders: { key: 'workspace', group: 'owner' },
    });
    this.#server.maxConnections = maxConnections + MAX_STRANGERS;
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
    const isRefused = this.#closing !== undefined || this.#deps.login.isBlocked(remoteAddress);
    const stranger = isRefused ? null : this.#strangers.take(remoteAddress);
    if (stranger === null || stranger.refusal !== null) {
      socket.destroy();
      return;
    }
    const cancel = this.#deps.clock.setTimer(() => socket.destroy(), LOGIN_MS);
    const connection = new SshConnection(this.#deps, {
      socket,
      remoteAddress,
      requestId: resolveRequestId({}),
      hostKey: this.#hostKey,
      onLogin: (grant) => this.#admit(open, grant, cancel),
    });
    const open: Open = { connection, socket, leave: stranger.release };
    this.#open.add(open);
    socket.once('close', () => {
      cancel();
      open.leave();
      this.#open.delete(open);
    });
  }

  /**
   * A client beyond the share of its workspace or owner still counts as one that has not logged in, and ends like one:
   * by then, its sessions have told why nothing works.
   */
  async #admit(open: Open, { workspaceUuid }: SshGrant, cancelTimer: () => void): Promise<AppError | null> {
    await this.#options.quotaLimits.readLimits(workspaceUuid); // so that the owner is known
    if (open.socket.destroyed) return null;
    const client = this.#clients.take(workspaceUuid);
    if (client.refusal !== null) return sandboxErrors.TOO_MANY_CONNECTIONS({ details: { ...client.refusal } });
    cancelTimer();
    open.leave();
    open.leave = client.release;
    return null;
  }
}
