import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { TLSSocket, type SecureContext } from 'node:tls';
import { BlockMemory, type LendingStream } from '@svc/bytes';
import { PlainConnections, type RelayTarget } from '@svc/http';
import { isCertificateOf } from './peer-identity.ts';

const CONNECT_TIMEOUT_MS = 3_000;
/** Shorter than the other side keeps idle connections, so that no request meets one that is closing. */
const IDLE_MS = 30_000;
const MAX_IDLE_CONNECTIONS = 64;
const KEEP_ALIVE_MS = 15_000;

/** A live replica that other replicas can reach. */
export interface Peer {
  readonly replica: string;
  /** Differs with each start. */
  readonly bootId: string;
  /** `https://host:port` of its internal listener. */
  readonly url: string;
}

/** Connections to one replica. Their certificates name both sides. */
export class PeerAgent extends Agent {
  readonly connection: NonNullable<RelayTarget['connection']>;
  /** For requests without a body, most of all: a third of the work of `node:http`. */
  readonly plain = new PlainConnections(() => this.#openPlain(), IDLE_MS);
  readonly #memory = new BlockMemory();
  readonly #sockets = new Set<Duplex>();
  readonly #unsent = new WeakSet<Error>();
  readonly #secureContext: () => SecureContext;

  /** `secureContext` is asked for each connection: the identity may be renewed. */
  constructor({ replica, url }: Peer, secureContext: () => SecureContext) {
    super({
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_MS,
      maxFreeSockets: MAX_IDLE_CONNECTIONS,
      timeout: IDLE_MS,
      maxCachedSessions: 0, // a resumed session would skip the check of the name
      rejectUnauthorized: true, // whatever the environment says
      servername: '', // the certificate names the replica, not its address
      checkServerIdentity: (_host, { subjectaltname }) =>
        isCertificateOf(replica, subjectaltname)
          ? undefined
          : new Error(`the certificate is not of replica ${replica}`),
    });
    this.#secureContext = secureContext;
    const { hostname, port } = new URL(url);
    this.connection = {
      protocol: 'https:',
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? 443 : Number(port),
    };
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>): Duplex | null | undefined {
    const secured = { ...options, secureContext: this.#secureContext() };
    const socket = super.createConnection(secured, callback);
    if (socket === null || socket === undefined) return socket;
    const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), CONNECT_TIMEOUT_MS);
    const note = (error: Error): void => void this.#unsent.add(error);
    socket.once('error', note);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', note);
    });
    this.#sockets.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    return socket;
  }

  #openPlain(): LendingStream {
    const socket = this.createConnection({ ...this.options, ...this.connection });
    if (!(socket instanceof TLSSocket)) throw new Error('TLS opened no connection');
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const lend = (take: (bytes: Buffer) => boolean): void => {
      socket.on('data', (bytes: Buffer) => {
        if (!take(bytes)) socket.pause();
      });
    };
    return Object.assign(socket, { memory: this.#memory, lend, lendMore: () => void socket.resume() });
  }

  /** Whether the connection failed before anything could be sent. */
  isUnsent(error: unknown): boolean {
    return error instanceof Error && this.#unsent.has(error);
  }

  /** Cuts every connection, also upgraded ones and those with a request under way. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy(new Error('the replica is gone'));
    this.destroy();
  }
}
