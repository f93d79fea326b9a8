import type { AppError } from '@svc/errors';
import { EXEC_CHANNELS, canEndInput, countAt, encodeResize, fieldAt, readExecEnd } from '@svc/kube/values';
import { Heartbeat, messageBytes, OutputCredit, TERMINAL_CLOSE_CODES } from '@svc/link';
import { WebSocket } from 'ws';

/** Stop reading when the other side has more than this unsent. */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_STATUS_BYTES = 64 * 1024;
const CLOSE_GRACE_MS = 2000;
/** How long a slow client may take to receive the remaining output after the process ends. */
const LAST_OUTPUT_GRACE_MS = 30_000;

export interface ShellSessionOptions {
  /** The client acknowledges the output it has rendered: browsers buffer without limit, however slowly they render. */
  acknowledges: boolean;
  /** Terminal size; null without a terminal. */
  size: { cols: number; rows: number } | null;
  /** Called when the connection to the process is lost; returns the refusal if the right to it was revoked. */
  whyLost: () => Promise<AppError | null>;
}

/**
 * Connects one client to one process in a container. Binary frames are a channel byte and data, as at the API server,
 * and pass unchanged; text frames are our own JSON controls.
 */
export class ShellSession {
  readonly #client: WebSocket;
  readonly #process: WebSocket;
  readonly #status: Buffer[] = [];
  readonly #credit: OutputCredit;
  readonly #whyLost: () => Promise<AppError | null>;
  #statusBytes = 0;
  readonly #heartbeat: Heartbeat;
  /** Resolves when both sides are closed. */
  readonly over: Promise<void>;

  /** Both sockets must be open and paused. */
  constructor(client: WebSocket, process: WebSocket, { acknowledges, size, whyLost }: ShellSessionOptions) {
    this.#credit = new OutputCredit(acknowledges, () => this.#resume());
    this.#whyLost = whyLost;
    this.#client = client;
    this.#process = process;
    client.on('message', (data, isBinary) => this.#fromClient(messageBytes(data), isBinary));
    this.#heartbeat = new Heartbeat(client);
    process.on('message', (data) => this.#fromProcess(messageBytes(data)));
    process.on('error', () => process.terminate()); // `close` follows
    client.once('close', () => this.#leave());
    process.once('close', () => this.#end());
    this.over = Promise.all([waitForClose(client), waitForClose(process)]).then(() => undefined);
    if (size !== null) this.#resize(size.cols, size.rows);
    process.resume();
    client.resume();
  }

  /** Call every 20 s: terminates a client that misses two pings in a row. */
  heartbeat(): void {
    this.#heartbeat.beat();
  }

  close(code: number, reason: string, graceMs = CLOSE_GRACE_MS): void {
    this.#client.resume();
    this.#client.close(code, reason);
    cutLater(this.#client, graceMs);
  }

  /** Revokes the shell: nothing passes from here on, even while the client is still closing. */
  take(refusal: AppError): void {
    this.#sendControl({ type: 'error', ...describe(refusal) });
    this.close(TERMINAL_CLOSE_CODES.revoked, 'the right to this shell was taken');
    this.#leave();
  }

  #fromProcess(data: Buffer): void {
    switch (data[0]) {
      case EXEC_CHANNELS.stdout:
      case EXEC_CHANNELS.stderr:
        if (data.length > 1) this.#show(data);
        return;
      case EXEC_CHANNELS.status:
        if (this.#statusBytes + data.length > MAX_STATUS_BYTES) return;
        this.#status.push(data.subarray(1));
        this.#statusBytes += data.length;
        return;
      default: // a channel of a later version
    }
  }

  #fromClient(data: Buffer, isBinary: boolean): void {
    if (isBinary && data[0] === EXEC_CHANNELS.stdin) return pass(this.#client, this.#process, data);
    const control = isBinary ? null : parsed(data);
    switch (fieldAt(control, 'type')) {
      case 'resize': {
        const [cols, rows] = [countAt(control, 'cols'), countAt(control, 'rows')];
        if (cols < 1 || rows < 1 || cols > 65_535 || rows > 65_535) break; // hidden windows have no size
        this.#resize(cols, rows);
        break;
      }
      case 'eof':
        if (canEndInput(this.#process.protocol)) this.#sendFrame(EXEC_CHANNELS.close, Buffer.of(EXEC_CHANNELS.stdin));
        else
          this.#sendControl({
            type: 'notice',
            message: 'this API server cannot close the input of the process',
          });
        break;
      case 'ack':
        this.#credit.acknowledge(countAt(control, 'bytes'));
        break;
      case 'ping':
        this.#sendControl({ type: 'pong' });
        break;
      default:
        this.close(TERMINAL_CLOSE_CODES.violation, 'a frame is neither stdin nor a control that is known');
    }
  }

  #show(data: Buffer): void {
    if (this.#client.readyState !== WebSocket.OPEN) return;
    this.#credit.send(data.length);
    this.#client.send(data, { binary: true }, () => this.#credit.taken(data.length));
    if (this.#credit.waitingBytes > MAX_WAITING_BYTES) this.#process.pause();
  }

  #resume(): void {
    if (this.#process.isPaused && this.#credit.waitingBytes <= MAX_WAITING_BYTES) this.#process.resume();
  }

  #resize(cols: number, rows: number): void {
    this.#sendFrame(EXEC_CHANNELS.resize, Buffer.from(encodeResize(rows, cols)));
  }

  #sendFrame(channel: number, data: Buffer): void {
    if (this.#process.readyState === WebSocket.OPEN) this.#process.send(Buffer.concat([Buffer.of(channel), data]));
  }

  #sendControl(control: object): void {
    if (this.#client.readyState === WebSocket.OPEN) this.#client.send(JSON.stringify(control));
  }

  /** The client has left: closing the connection makes the API server end the process's input. */
  #leave(): void {
    this.#process.resume(); // a paused socket never reads the peer's close frame
    this.#process.close(TERMINAL_CLOSE_CODES.ended);
    cutLater(this.#process, CLOSE_GRACE_MS);
  }

  /** The process has ended. All of its output has already been passed to the client, so this message follows it. */
  #end(): void {
    if (this.#statusBytes === 0) {
      void this.#whyLost().then((refusal) => {
        if (refusal !== null) this.take(refusal);
        else this.close(TERMINAL_CLOSE_CODES.lost, 'the connection to the container was lost');
      });
      return;
    }
    const end = readExecEnd(Buffer.concat(this.#status).toString('utf8'));
    if ('exitCode' in end) {
      this.#sendControl({ type: 'exit', exit_code: end.exitCode });
      this.close(TERMINAL_CLOSE_CODES.ended, JSON.stringify({ exit_code: end.exitCode }), LAST_OUTPUT_GRACE_MS);
      return;
    }
    this.#sendControl({ type: 'error', status: 502, code: 'KUBERNETES_ERROR', message: end.reason });
    this.close(TERMINAL_CLOSE_CODES.refused, 'nothing was run');
  }
}

/** Sends the reason as a frame and closes: browsers hide the response to a failed handshake. */
export function refuseShell(client: WebSocket, error: AppError): void {
  client.send(JSON.stringify({ type: 'error', ...describe(error) }));
  client.resume();
  client.close(TERMINAL_CLOSE_CODES.refused, 'nothing was run');
}

function describe({ status, code, message, details }: AppError): object {
  return { status, code, message, details };
}

function cutLater(socket: WebSocket, graceMs: number): void {
  if (socket.readyState === WebSocket.CLOSED) return;
  const cut = setTimeout(() => socket.terminate(), graceMs);
  socket.once('close', () => clearTimeout(cut));
}

/** Stops reading while the other side is behind, which holds back the process or the user's input. */
function pass(from: WebSocket, to: WebSocket, data: Buffer): void {
  if (to.readyState !== WebSocket.OPEN) return;
  to.send(data, { binary: true }, () => {
    if (from.isPaused && to.bufferedAmount <= MAX_WAITING_BYTES) from.resume();
  });
  if (to.bufferedAmount > MAX_WAITING_BYTES) from.pause();
}

function waitForClose(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState === WebSocket.CLOSED) resolve();
    else socket.once('close', () => resolve());
  });
}

function parsed(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
