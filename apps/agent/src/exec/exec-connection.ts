import { assertAccepted, isStatusError, segment, type KubeClient } from '@svc/kube';
import { EXEC_CHANNELS, EXEC_PROTOCOLS, canEndInput, encodeResize } from '@svc/kube/values';
import { WebSocket, type RawData } from 'ws';
import { agentErrors } from '../errors.ts';

export interface ExecTarget {
  namespace: string;
  pod: string;
  container: string;
  command: readonly string[];
  stdin: boolean;
  tty: boolean;
}

export interface ExecListener {
  output(stream: 'stdout' | 'stderr', data: Buffer): void;
}

const HANDSHAKE_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_STATUS_BYTES = 64 * 1024;
const CLOSE_GRACE_MS = 2000;

/**
 * A process in a container over the API server's WebSocket subprotocol: every message is a channel byte and data.
 * `ended` resolves once with the server's status object, or null if the connection broke first.
 */
export class ExecConnection {
  readonly ended: Promise<string | null>;
  readonly #socket: WebSocket;
  #status: Buffer[] = [];
  #statusBytes = 0;

  private constructor(socket: WebSocket, listener: ExecListener) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(data, listener));
    socket.on('error', () => undefined); // `close` follows and ends it
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        resolve(this.#statusBytes === 0 ? null : Buffer.concat(this.#status).toString('utf8'));
      });
    });
  }

  /** Resolves once the API server has upgraded; rejects with a `KubernetesStatusError` if it refuses. */
  static async open(
    client: KubeClient,
    target: ExecTarget,
    listener: ExecListener,
    signal: AbortSignal,
    protocols: readonly string[] = EXEC_PROTOCOLS,
  ): Promise<ExecConnection> {
    const made = (socket: WebSocket): ExecConnection => new ExecConnection(socket, listener);
    try {
      return await connect({ client, target, signal, protocols }, made);
    } catch (error) {
      if (!isStatusError(error, 401)) throw error;
      client.access.token.invalidate(); // a projected token may have been renewed since it was read
      return connect({ client, target, signal, protocols }, made);
    }
  }

  /** The negotiated subprotocol. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Bytes of input not yet taken by the network. */
  get waitingInputBytes(): number {
    return this.#socket.bufferedAmount;
  }

  write(data: Buffer): void {
    this.#send(EXEC_CHANNELS.stdin, data);
  }

  /** Returns false if the protocol cannot signal it: the process then never sees the end of its input. */
  endInput(): boolean {
    if (!canEndInput(this.protocol)) return false;
    this.#send(EXEC_CHANNELS.close, Buffer.of(EXEC_CHANNELS.stdin));
    return true;
  }

  resize(rows: number, cols: number): void {
    this.#send(EXEC_CHANNELS.resize, Buffer.from(encodeResize(rows, cols)));
  }

  /** Stops reading: the process blocks once its pipe is full. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Does not stop the process: Kubernetes has no way to end it. */
  close(): void {
    this.#socket.resume(); // a paused socket never reads the peer's close frame
    this.#socket.close(1000);
    const cut = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    void this.ended.then(() => clearTimeout(cut));
  }

  #send(channel: number, data: Buffer): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(Buffer.concat([Buffer.of(channel), data]));
  }

  #receive(data: RawData, listener: ExecListener): void {
    const message = data as Buffer; // one Buffer, with the default binaryType
    const body = message.subarray(1);
    switch (message[0]) {
      case EXEC_CHANNELS.stdout:
        if (body.length > 0) listener.output('stdout', body);
        return;
      case EXEC_CHANNELS.stderr:
        if (body.length > 0) listener.output('stderr', body);
        return;
      case EXEC_CHANNELS.status:
        if (this.#statusBytes + body.length > MAX_STATUS_BYTES) return;
        this.#status.push(body);
        this.#statusBytes += body.length;
        return;
      default: // a channel of a later version
    }
  }
}

interface ConnectRequest {
  client: KubeClient;
  target: ExecTarget;
  signal: AbortSignal;
  protocols: readonly string[];
}

async function connect(
  { client, target, signal, protocols }: ConnectRequest,
  made: (socket: WebSocket) => ExecConnection,
): Promise<ExecConnection> {
  signal.throwIfAborted();
  const options = await client.transport.connection();
  const socket = new WebSocket(urlOf(client, target), [...protocols], {
    ...options,
    // `connection()` types its headers as OutgoingHttpHeaders; the values are strings.
    headers: options.headers as Record<string, string>,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  return new Promise((resolve, reject) => {
    const abort = (): void => socket.terminate();
    const fail = (error: unknown): void => {
      signal.removeEventListener('abort', abort);
      reject(signal.aborted ? signal.reason : error);
    };
    signal.addEventListener('abort', abort, { once: true });
    // Created before the first message can arrive, which may be in the packet of the handshake response.
    const connection = made(socket);
    socket.once('upgrade', (response) => response.socket.setKeepAlive(true, 15_000));
    socket.once('open', () => {
      signal.removeEventListener('abort', abort);
      resolve(connection);
    });
    socket.once('unexpected-response', (_request, response) => {
      assertAccepted(response).then(
        () => fail(unreachable(`the API server answered ${response.statusCode ?? 0} instead of upgrading`)),
        fail,
      );
    });
    socket.once('error', (cause) => fail(unreachable(cause.message, cause)));
  });
}

function urlOf({ access }: KubeClient, { namespace, pod, container, command, stdin, tty }: ExecTarget): URL {
  const url = new URL(access.server);
  url.protocol = access.server.protocol === 'https:' ? 'wss:' : 'ws:';
  const prefix = access.server.pathname.replace(/\/$/, '');
  url.pathname = `${prefix}/api/v1/namespaces/${segment(namespace)}/pods/${segment(pod)}/exec`;
  url.searchParams.set('container', container);
  for (const word of command) url.searchParams.append('command', word);
  url.searchParams.set('stdin', String(stdin));
  url.searchParams.set('stdout', 'true');
  url.searchParams.set('stderr', String(!tty)); // a TTY merges stderr into stdout
  url.searchParams.set('tty', String(tty));
  return url;
}

function unreachable(reason: string, cause?: unknown): Error {
  return agentErrors.UNAVAILABLE({ details: { reason: `the API server: ${reason}` }, cause });
}
