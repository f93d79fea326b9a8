import { UnexpectedAnswerError } from '../errors.ts';
import type { SocketListener } from '../socket.ts';
import type { SocketLike } from '../open-socket.ts';
import type { QueryValue } from '../transport.ts';
import { parseNotice, type SandboxNotice } from './notice.ts';
import type { SandboxTransport } from './sandbox-transport.ts';

/** WebSocket subprotocol of terminals with offsets, acknowledgements and sessions. */
export const SANDBOX_V1 = 'sandbox.v1';

const STDIN = 0x00;
const STDERR = 0x02;
const REPLAY = 0x03;
const SCREEN = 0x04;
const HEADER_BYTES = 9;

/** The first message of a connection. */
export interface Started {
  /** Null if the process ends with its client. */
  sessionId: string | null;
  pid: number;
  /** Path of the shell or program. */
  path: string;
  /** Absolute offset of the first byte that follows. */
  offset: number;
  /** Number of following bytes from before this client connected. */
  replayedBytes: number;
  /** Maximum unacknowledged input in bytes; null if the server sets no limit. */
  inputWindowBytes: number | null;
  /**
   * Bytes of input that the process got from the connection that this one resumes; null if the server does not know, and
   * undefined if it never does.
   */
  inputTakenBytes: number | null | undefined;
}

/** How a shell or command ended. */
export interface ProcessExit {
  /** 128 + signal number after a signal. */
  exitCode: number;
  signal: string | null;
}

/** A chunk of output. */
export interface OutputChunk {
  bytes: Uint8Array;
  channel: 'stdout' | 'stderr';
  /** Output from before this client connected; its terminal queries were already answered. */
  replayed: boolean;
  /**
   * Not output, but a redraw of the screen as of `offset`, after a full reset, in place of output that is no longer
   * kept. Comes first after a connect, possibly in several chunks. Do not answer its terminal queries.
   */
  screen: boolean;
  /** Offset of the first byte in its channel. */
  offset: number;
}

/** Receives output. The next chunk follows when the returned promise resolves. */
export type OutputListener = (chunk: OutputChunk) => void | Promise<void>;

/** Receives the messages of a terminal connection. `closed` is always the last call. */
export interface V1Listener {
  started(process: Started): void;
  output(chunk: OutputChunk): void;
  /** Input bytes that reached the process. */
  taken(bytes: number): void;
  /** Bytes between two offsets were lost because this client was too slow. */
  lagged(from: number, to: number): void;
  /** An error of the platform, such as READ_ONLY or why a program could not start. */
  failed(code: string, message: string): void;
  exited(exit: ProcessExit): void;
  noticed?(notice: SandboxNotice): void;
  closed(code: number, reason: string): void;
}

/** An open terminal, independent of its framing. */
export interface TerminalConnection {
  /** Input not sent yet, in bytes. */
  readonly bufferedBytes: number;
  type(bytes: Uint8Array): void;
  control(control: Readonly<Record<string, unknown>>): void;
  acknowledge(bytes: number): void;
  close(): void;
}

/** A WebSocket that speaks `sandbox.v1`. The server sends output only within the acknowledged window. */
export class V1Connection implements TerminalConnection {
  readonly #socket: SocketLike;

  private constructor(socket: SocketLike) {
    this.#socket = socket;
  }

  /** Opens a terminal. Throws UnexpectedAnswerError if the server does not support the subprotocol. */
  static async open(
    transport: SandboxTransport,
    id: string,
    request: { query: Readonly<Record<string, QueryValue>>; signal?: AbortSignal | undefined },
    listener: V1Listener,
  ): Promise<V1Connection> {
    const query = { ...request.query, ack: 1 };
    const protocols = [SANDBOX_V1];
    const socket = await transport.openTerminal(
      id,
      { query, protocols, signal: request.signal },
      createReceiver(listener),
    );
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

function createReceiver(listener: V1Listener): SocketListener {
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
  // the protocol's documented controls, checked here
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
  switch (fields['type']) {
    case 'ready':
      listener.started({
        sessionId: typeof fields['session_id'] === 'string' ? fields['session_id'] : null,
        pid: parseNumber(fields['pid']),
        path: parseText(fields['path']),
        offset: parseNumber(fields['offset']),
        replayedBytes: parseNumber(fields['replayed']),
        inputWindowBytes: parseCount(fields['input_window']),
        inputTakenBytes: 'input_taken' in fields ? parseCount(fields['input_taken']) : undefined,
      });
      return;
    case 'taken':
      listener.taken(parseNumber(fields['bytes']));
      return;
    case 'lagged':
      listener.lagged(parseNumber(fields['from']), parseNumber(fields['to']));
      return;
    case 'error':
      listener.failed(parseText(fields['code']), parseText(fields['message']));
      return;
    case 'notice':
      listener.noticed?.(parseNotice(fields));
      return;
    case 'exit':
      listener.exited({
        exitCode: parseNumber(fields['exit_code']),
        signal: typeof fields['signal'] === 'string' ? fields['signal'] : null,
      });
  }
}

function parseCount(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function parseNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function parseText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
