import type { WebSocket } from 'ws';
import type { AgentConnection } from '../agent/agent-connection.ts';
import type { AgentStream, Outcome } from '../agent/agent-stream.ts';
import type { ExitStatus, Framing, Message } from './framing.ts';

/** Input beyond this waits at the client: its socket is not read any further. */
const MAX_PENDING_INPUT_BYTES = 1024 * 1024;

export interface TerminalSessionOptions {
  readonly socket: WebSocket;
  readonly connection: AgentConnection;
  readonly framing: Framing;
  /** Parameters of the helper's `process.start`. */
  readonly start: Readonly<Record<string, unknown>>;
  readonly cols: number;
  readonly rows: number;
  /** Called for every input, so that the sandbox counts as used. */
  readonly active: () => void;
  /** How to close when the sandbox went away below the terminal. */
  readonly lostClose: () => Promise<{ code: number; reason: string }>;
}

/** Joins one WebSocket to one process. Output waits in the sandbox when the client is slow, input waits at the client. */
export class TerminalSession {
  /** Resolves when the client is gone. */
  readonly closed: Promise<void>;
  /** Resolves when the process has ended as well. */
  readonly over: Promise<void>;
  readonly #options: TerminalSessionOptions;
  readonly #stream: AgentStream;
  #input: Promise<unknown> = Promise.resolve();
  #pendingInputBytes = 0;
  #missedPongs = 0;

  constructor(options: TerminalSessionOptions) {
    this.#options = options;
    const { socket, connection, framing } = options;
    this.#stream = connection.start(
      { ...options.start, op: 'process.start' },
      {
        event: (event) => this.#started(event),
        data: (bytes, channel) => this.#send(framing.output(bytes, channel), bytes.length),
      },
    );
    socket.on('message', (data, isBinary) => this.#receive(toBuffer(data), isBinary));
    socket.on('pong', () => {
      this.#missedPongs = 0;
    });
    socket.on('error', () => socket.terminate()); // `close` follows
    socket.once('close', () => this.#stream.abandon());
    this.closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    this.over = Promise.all([this.closed, this.#stream.outcome.then((outcome) => this.#end(outcome))]).then(
      () => undefined,
    );
  }

  /** To be called every 20 s: a client that answers neither of two is gone. */
  heartbeat(): void {
    const { socket } = this.#options;
    if (this.#missedPongs >= 2) socket.terminate();
    else if (socket.readyState === socket.OPEN) {
      this.#missedPongs += 1;
      socket.ping();
    }
  }

  close(code: number, reason: string): void {
    this.#options.socket.close(code, reason);
  }

  terminate(): void {
    this.#options.socket.terminate();
  }

  #started(event: Readonly<Record<string, unknown>>): void {
    if (event['type'] !== 'started') return;
    const { framing, cols, rows } = this.#options;
    const { pid, path } = event;
    this.#send(
      framing.started({
        pid: typeof pid === 'number' ? pid : 0,
        path: typeof path === 'string' ? path.slice(0, 4096) : '',
        cols,
        rows,
      }),
      0,
    );
  }

  /** The bytes count as consumed when the last frame made of them has left this process. */
  #send(messages: readonly Message[], bytes: number): void {
    const { socket } = this.#options;
    if (socket.readyState !== socket.OPEN || messages.length === 0) {
      this.#stream.consumed(bytes);
      return;
    }
    messages.forEach((message, index) => {
      const isLast = index === messages.length - 1;
      socket.send(message, { binary: typeof message !== 'string' }, () => {
        if (isLast) this.#stream.consumed(bytes);
      });
    });
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { framing, socket } = this.#options;
    this.#options.active();
    const input = framing.input(data, isBinary);
    switch (input.kind) {
      case 'stdin':
        this.#type(input.bytes);
        return;
      case 'resize':
        this.#stream.control({ type: 'resize', cols: input.cols, rows: input.rows });
        return;
      case 'signal':
        this.#stream.control({ type: 'signal', name: input.name });
        return;
      case 'eof':
        // After what was typed before it.
        this.#input = this.#input.then(() => this.#stream.finishInput());
        return;
      case 'ping':
        this.#send(framing.pong(), 0);
        return;
      case 'violation':
        socket.close(4009, input.reason);
    }
  }

  #type(bytes: Uint8Array): void {
    const { socket } = this.#options;
    this.#pendingInputBytes += bytes.length;
    if (this.#pendingInputBytes > MAX_PENDING_INPUT_BYTES) socket.pause();
    this.#input = this.#input
      .then(() => this.#stream.write(bytes))
      .then(() => {
        this.#pendingInputBytes -= bytes.length;
        if (this.#pendingInputBytes <= MAX_PENDING_INPUT_BYTES && socket.isPaused) socket.resume();
      });
  }

  /** All output was handed to the socket before this, so the close comes after it. */
  async #end(outcome: Outcome): Promise<void> {
    const { socket, framing, lostClose } = this.#options;
    if (socket.isPaused) socket.resume(); // the close handshake has to be read
    if (!outcome.ok && (outcome.code === 'LOST' || outcome.code === 'DETACHED' || outcome.code === 'ABORTED')) {
      if (socket.readyState !== socket.OPEN) return;
      const { code, reason } = await lostClose();
      socket.close(code, reason);
      return;
    }
    const status = exitStatusOf(outcome);
    this.#send(framing.exit(status), 0);
    socket.close(1000, closeReason(status));
  }
}

function exitStatusOf(outcome: Outcome): ExitStatus {
  if (!outcome.ok) {
    const exitCode = outcome.code === 'COMMAND_NOT_EXECUTABLE' ? 126 : 127;
    return { exitCode, signal: null, error: { code: outcome.code, message: outcome.message } };
  }
  const { exit_code: exitCode, signal } = outcome.result;
  return {
    exitCode: typeof exitCode === 'number' && Number.isInteger(exitCode) ? exitCode & 0xff : 255,
    signal: typeof signal === 'string' ? signal.slice(0, 16) : null,
    error: null,
  };
}

/** A close reason has at most 123 bytes (RFC 6455, section 5.5). */
function closeReason({ exitCode, signal, error }: ExitStatus): string {
  return JSON.stringify({
    exit_code: exitCode,
    ...(signal === null ? {} : { signal }),
    ...(error === null ? {} : { error: error.code }),
  });
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
