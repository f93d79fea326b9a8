import { isStatusError, type KubeClient } from '@svc/kube';
import { execRoute, openExec, type ExecTarget } from '@svc/kube/exec';
import { EXEC_CHANNELS, EXEC_PROTOCOLS, canEndInput, encodeResize } from '@svc/kube/values';
import { WebSocket, type RawData } from 'ws';
import { agentErrors } from '../errors.ts';

export interface ExecListener {
  output(stream: 'stdout' | 'stderr', data: Buffer): void;
}

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
    try {
      const socket = await openExec(execRoute(client), target, { signal, protocols });
      const connection = new ExecConnection(socket, listener);
      socket.resume();
      return connection;
    } catch (error) {
      if (signal.aborted || isStatusError(error)) throw error;
      throw unreachable(error);
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

function unreachable(cause: unknown): Error {
  const reason = `the API server: ${cause instanceof Error ? cause.message : String(cause)}`;
  return agentErrors.UNAVAILABLE({ details: { reason }, cause });
}
