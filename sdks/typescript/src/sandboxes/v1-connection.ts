import { UnexpectedAnswerError } from '../errors.ts';
import type { SocketLike, SocketListener } from '../socket.ts';
import type { QueryValue } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';

export const SANDBOX_V1 = 'sandbox.v1';

const STDIN = 0x00;
const STDERR = 0x02;
const REPLAY = 0x03;
const SCREEN = 0x04;
const HEADER_BYTES = 9;

/** The first word of a connection. */
export interface Started {
  /** Null for what ends with its client. */
  sessionId: string | null;
  pid: number;
  /** Of the shell or the program. */
  path: string;
  /** Absolute offset of the first byte that follows. */
  offset: number;
  /** How much of what follows was said before this client came. */
  replayedBytes: number;
  /** How much input may be on its way before more of it was taken; null where nobody says so. */
  inputWindowBytes: number | null;
}

/** How a shell or a command ended. */
export interface ProcessExit {
  /** 128 + its number after a signal. */
  exitCode: number;
  signal: string | null;
}

export interface OutputChunk {
  bytes: Uint8Array;
  channel: 'stdout' | 'stderr';
  /** Sent before this client came: what it asks of a terminal was answered then. */
  replayed: boolean;
  /**
   * No output, but what draws the screen as the session's output before `offset` has left it, from a full reset on: that output
   * is no longer kept. It comes first after a connect, also in pieces. Nothing of it is to be answered.
   */
  screen: boolean;
  /** Of its first byte in that channel. */
  offset: number;
}

export interface V1Listener {
  started(process: Started): void;
  output(chunk: OutputChunk): void;
  /** So much of the input has reached the process. */
  taken(bytes: number): void;
  /** Bytes between two offsets were lost, because this client was too slow. */
  lagged(from: number, to: number): void;
  /** Of the platform, such as READ_ONLY, or why a program could not be started. */
  failed(code: string, message: string): void;
  exited(exit: ProcessExit): void;
  closed(code: number, reason: string): void;
}

/** One open terminal, in whatever framing. */
export interface TerminalConnection {
  /** What was typed and has not left yet. */
  readonly bufferedBytes: number;
  type(bytes: Uint8Array): void;
  control(control: Readonly<Record<string, unknown>>): void;
  acknowledge(bytes: number): void;
  close(): void;
}

/** One WebSocket that speaks `sandbox.v1`. Output is sent only as far as it was acknowledged. */
export class V1Connection implements TerminalConnection {
  readonly #socket: SocketLike;

  private constructor(socket: SocketLike) {
    this.#socket = socket;
  }

  static async open(
    transport: SandboxTransport,
    id: string,
    request: { query: Readonly<Record<string, QueryValue>>; signal?: AbortSignal | undefined },
    listener: V1Listener,
  ): Promise<V1Connection> {
    const query = { ...request.query, ack: 1 };
    const protocols = [SANDBOX_V1];
    const socket = await transport.openTerminal(id, { query, protocols, signal: request.signal }, receiverOf(listener));
    if (socket.protocol === SANDBOX_V1) return new V1Connection(socket);
    socket.close();
    throw new UnexpectedAnswerError(`The server does not speak ${SANDBOX_V1}`);
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  type(bytes: Uint8Array): void {
    const frame = new Uint8Array(bytes.length + 1);
    frame[0] = STDIN;
    frame.set(bytes, 1);
    this.#socket.send(frame);
  }

  control(control: Readonly<Record<string, unknown>>): void {
    this.#socket.send(JSON.stringify(control));
  }

  acknowledge(bytes: number): void {
    if (bytes > 0) this.control({ type: 'ack', bytes });
  }

  close(): void {
    this.#socket.close(1000);
  }
}

function receiverOf(listener: V1Listener): SocketListener {
  return {
    message(data) {
      if (typeof data === 'string') receiveControl(data, listener);
      else if (data.length >= HEADER_BYTES) receiveOutput(data, listener);
    },
    close: (code, reason) => listener.closed(code, reason),
  };
}

function receiveOutput(frame: Uint8Array, listener: V1Listener): void {
  const offset = Number(new DataView(frame.buffer, frame.byteOffset).getBigUint64(1));
  const kind = frame[0];
  const channel = kind === STDERR ? 'stderr' : 'stdout';
  const screen = kind === SCREEN;
  listener.output({
    bytes: frame.subarray(HEADER_BYTES),
    channel,
    replayed: screen || kind === REPLAY,
    screen,
    offset,
  });
}

function receiveControl(text: string, listener: V1Listener): void {
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>; // the protocol's documented controls, checked here
  switch (fields['type']) {
    case 'ready':
      listener.started({
        sessionId: typeof fields['session_id'] === 'string' ? fields['session_id'] : null,
        pid: numberOf(fields['pid']),
        path: textOf(fields['path']),
        offset: numberOf(fields['offset']),
        replayedBytes: numberOf(fields['replayed']),
        inputWindowBytes: typeof fields['input_window'] === 'number' ? fields['input_window'] : null,
      });
      return;
    case 'taken':
      listener.taken(numberOf(fields['bytes']));
      return;
    case 'lagged':
      listener.lagged(numberOf(fields['from']), numberOf(fields['to']));
      return;
    case 'error':
      listener.failed(textOf(fields['code']), textOf(fields['message']));
      return;
    case 'exit':
      listener.exited({
        exitCode: numberOf(fields['exit_code']),
        signal: typeof fields['signal'] === 'string' ? fields['signal'] : null,
      });
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
