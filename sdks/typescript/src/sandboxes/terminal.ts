import { SvcError, NetworkError } from '../errors.ts';
import { OutputQueue } from '../output-queue.ts';
import type { QueryValue } from '../transport.ts';
import { InputWindow } from './input-window.ts';
import type { NoticeListener } from './notice.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import {
  type OutputChunk,
  type OutputListener,
  type ProcessExit,
  type Started,
  type TerminalConnection,
  type V1Listener,
  V1Connection,
} from './v1-connection.ts';
import { explainRefusal } from './explain-refusal.ts';
import { RawConnection } from './raw-connection.ts';

/** A terminal to open. `session` names a session to join or create; `since` is the offset to resume its output from. */
interface OpenRequest {
  query: Readonly<Record<string, QueryValue>>;
  session: string | undefined;
  since: number | undefined;
  signal: AbortSignal | undefined;
}

/** Options of a terminal. */
export interface TerminalOptions {
  /** Defaults to 80 x 24. */
  cols?: number | undefined;
  rows?: number | undefined;
  /**
   * Name of a session, whose shell outlives this client: joins or creates it. `new` creates one with a generated name.
   */
  session?: string | undefined;
  /** Replays only output after this offset. Never creates a session; an ended one is refused. */
  since?: number | undefined;
  /**
   * What to replay if the session has more output than it keeps (1 MiB): its screen, redrawn after a full reset
   * (default), or the kept output, which may begin anywhere.
   */
  replay?: 'screen' | 'output' | undefined;
  /** How long the session lives without a client, in seconds. */
  lingerSeconds?: number | undefined;
  readOnly?: boolean | undefined;
  /** Disconnects the session's other clients. */
  takeover?: boolean | undefined;
  /** Aborts the opening, or closes the terminal. */
  signal?: AbortSignal | undefined;
  /** Whether to reopen a lost connection to a session where it broke. Defaults to true. */
  reconnect?: boolean | undefined;
  onNotice?: NoticeListener | undefined;
}

/** How a terminal ended: the shell exited, or the connection was closed for another reason, such as 4004 (stopped). */
export interface TerminalEnd {
  exit: ProcessExit | null;
  /** Close code of the WebSocket; 1000 after the shell exits or after `close()`. */
  code: number;
  reason: string;
}

/** State of the terminal's connection. */
export type ConnectionState = 'connected' | 'reconnecting' | 'closed';

/** Close code of a platform that restarts. It has reported all input that it took. */
const RESTARTING = 1012;
/** Close codes that a retry cannot change. Any other code means a broken connection. */
const FINAL_CODES: ReadonlySet<number> = new Set([1000, 1008, 4001, 4003, 4004, 4005, 4006, 4008, 4009]);
/** For two minutes: as long as a replica takes to restart on another machine. */
const MAX_ATTEMPTS = 28;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

/**
 * A shell on a terminal of a sandbox.
 *
 * @example
 * ```ts
 * const terminal = await sandbox.terminal({ session: 'main' });
 * terminal.onData(({ bytes }) => void process.stdout.write(bytes));
 * await terminal.write('ls\n');
 * ```
 */
export class Terminal {
  readonly #transport: SandboxTransport;
  readonly #sandboxId: string;
  readonly #options: TerminalOptions;
  readonly #queue: OutputQueue<OutputChunk>;
  readonly #ended = Promise.withResolvers<TerminalEnd>();
  readonly #stateListeners = new Set<(state: ConnectionState) => void>();
  readonly #lagListeners = new Set<(lostBytes: number) => void>();
  readonly #abort = (): void => this.close();
  readonly #input = new InputWindow();
  /** Names the last connection that sent input. */
  #inputId: string | undefined;
  /** Close code of that connection. */
  #inputLostBy: number | null = null;
  #connection: TerminalConnection | null = null;
  #process: Started | null = null;
  #exit: ProcessExit | null = null;
  #cols: number;
  #rows: number;
  #offset = 0;
  #isOver = false;
  #wasClosed = false;

  private constructor(transport: SandboxTransport, sandboxId: string, options: TerminalOptions) {
    this.#transport = transport;
    this.#sandboxId = sandboxId;
    this.#options = options;
    this.#cols = options.cols ?? 80;
    this.#rows = options.rows ?? 24;
    this.#queue = new OutputQueue((bytes) => this.#connection?.acknowledge(bytes));
  }

  /** Opens a terminal. Waits at most one minute for a sandbox that is still starting. */
  static async open(transport: SandboxTransport, sandboxId: string, options: TerminalOptions = {}): Promise<Terminal> {
    const terminal = new Terminal(transport, sandboxId, options);
    await terminal.#connect(options.session, options.since);
    options.signal?.addEventListener('abort', terminal.#abort, { once: true });
    return terminal;
  }

  /** Name of the session, for others to join; null for a shell that ends with this terminal. */
  get sessionId(): string | null {
    return this.#process?.sessionId ?? null;
  }

  /** Process id of the shell in the sandbox. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Path of the shell. */
  get shell(): string {
    return this.#process?.path ?? '';
  }

  /** Bytes of output from before this terminal was opened. */
  get replayedBytes(): number {
    return this.#process?.replayedBytes ?? 0;
  }

  /** Absolute offset after the last received byte. Pass it as `since` to continue in another terminal. */
  get offset(): number {
    return this.#offset;
  }

  /** Resolves at the end, after all output was consumed. Rejects with the output listener's error. */
  get ended(): Promise<TerminalEnd> {
    return this.#ended.promise;
  }

  /** Sets the output listener. There is one listener; output waits in the sandbox until its promise resolves. */
  onData(listener: OutputListener): void {
    this.#queue.listen(listener);
  }

  /** Called when the connection's state changes. Returns a function that unsubscribes. */
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /**
   * Called with the number of bytes lost because this client fell far behind. Returns a function that unsubscribes.
   */
  onLag(listener: (lostBytes: number) => void): () => void {
    this.#lagListeners.add(listener);
    return () => this.#lagListeners.delete(listener);
  }

  /**
   * Writes input. Resolves when sent, also on the next connection while a session reconnects. Rejects if there is none, or if
   * earlier input was lost: after a crash of the platform, it is unknown whether the shell has got what was on its way.
   */
  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    return this.#input.send(bytes, () => this.#connection);
  }

  /** Changes the terminal size. */
  resize(cols: number, rows: number): void {
    [this.#cols, this.#rows] = [cols, rows];
    this.#connection?.control({ type: 'resize', cols, rows });
  }

  /** Sends a signal, such as `SIGINT`, to the foreground process. */
  signal(name: string): void {
    this.#connected().control({ type: 'signal', name });
  }

  /** Disconnects. Ends the shell unless it belongs to a session. */
  close(): void {
    this.#wasClosed = true;
    if (this.#connection === null) this.#finish(1000, '');
    else this.#connection.close();
  }

  #connected(): TerminalConnection {
    if (this.#connection === null) throw new SvcError('The terminal is not connected');
    return this.#connection;
  }

  async #connect(session: string | undefined, since: number | undefined): Promise<void> {
    const { signal } = this.#options;
    const inputId = session === undefined ? undefined : createRandomId();
    const input = { connection: inputId, resumes: this.#inputId };
    const query = { cols: this.#cols, rows: this.#rows, ...sessionQuery(session, since, this.#options), ...input };
    const ready = Promise.withResolvers<void>();
    // A shell that ends immediately may reject this before anything awaits it.
    ready.promise.catch(() => undefined);
    const request = { query, session, since, signal };
    this.#connection = await openConnection(this.#transport, this.#sandboxId, request, this.#listener(ready));
    await ready.promise;
    if (this.#connection === null) return; // lost again
    this.#beginInput(this.#connection);
    this.#inputId = inputId;
    this.#notify('connected');
  }

  #beginInput(connection: TerminalConnection): void {
    const { inputWindowBytes = null, inputTakenBytes } = this.#process ?? {};
    const isReported = inputTakenBytes === null && this.#inputLostBy === RESTARTING;
    this.#inputLostBy = null;
    if (this.#inputId === undefined) this.#input.begin(inputWindowBytes);
    else this.#input.resume(inputWindowBytes, connection, isReported ? 'reported' : (inputTakenBytes ?? null));
  }

  #listener(ready: PromiseWithResolvers<void>): V1Listener {
    let hasStarted = false;
    return {
      started: (process) => {
        hasStarted = true;
        this.#process = process;
        this.#offset = process.offset;
        ready.resolve();
      },
      output: (chunk) => {
        this.#offset = chunk.offset + (chunk.screen ? 0 : chunk.bytes.length);
        this.#queue.push(chunk);
      },
      taken: (bytes) => this.#input.taken(bytes),
      lagged: (from, to) => {
        this.#offset = to;
        for (const each of this.#lagListeners) each(to - from);
      },
      failed: (code, message) => {
        if (code !== 'READ_ONLY') ready.reject(new SvcError(message));
      },
      noticed: (notice) => this.#options.onNotice?.(notice),
      exited: (exit) => {
        this.#exit = exit;
      },
      closed: (code, reason) => {
        ready.reject(new SvcError(reason === '' ? `The terminal was closed with ${code}` : reason));
        // Otherwise, the attempt to connect has failed, and its caller tries again.
        if (hasStarted) this.#lost(code, reason);
        else this.#connection = null;
      },
    };
  }

  #lost(code: number, reason: string): void {
    this.#connection = null;
    this.#inputLostBy ??= code;
    if (this.#isOver) return;
    const { reconnect = true } = this.#options;
    const session = this.sessionId;
    if (this.#wasClosed || !reconnect || session === null || FINAL_CODES.has(code)) return this.#finish(code, reason);
    this.#input.pause();
    void this.#reconnect(session, code, reason);
  }

  /** Resumes at the offset where the connection broke, or with the screen if the session no longer has that output. */
  async #reconnect(session: string, code: number, reason: string): Promise<void> {
    this.#notify('reconnecting');
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !this.#wasClosed; attempt += 1) {
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (this.#isOver) return;
      try {
        await this.#connect(session, this.#offset);
        return;
      } catch (error) {
        if (isFinal(error)) break;
      }
    }
    this.#finish(code, reason);
  }

  #finish(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#input.end();
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#notify('closed');
    const end: TerminalEnd = { exit: this.#exit, code, reason };
    this.#queue.drained().then(() => this.#ended.resolve(end), this.#ended.reject);
    this.#ended.promise.catch(() => undefined); // callers of `ended` get the error
  }

  #notify(state: ConnectionState): void {
    for (const listener of this.#stateListeners) listener(state);
  }
}

function sessionQuery(
  session: string | undefined,
  since: number | undefined,
  { replay, lingerSeconds, readOnly, takeover }: TerminalOptions,
): Record<string, QueryValue> {
  if (session === undefined) return {};
  const mode = readOnly === true ? 'ro' : undefined;
  return { session, since, replay, linger: lingerSeconds, mode, takeover: takeover === true ? 1 : undefined };
}

function createRandomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A definitive response of the platform; a retry would not help. */
function isFinal(error: unknown): boolean {
  return error instanceof SvcError && 'status' in error && typeof error.status === 'number' && error.status < 500;
}

/** Connects by `sandbox.v1`, or by the contract's raw terminal if the server supports no subprotocol. */
async function openConnection(
  transport: SandboxTransport,
  id: string,
  request: OpenRequest,
  listener: V1Listener,
): Promise<TerminalConnection> {
  if (transport.contractOnly) return await RawConnection.open(transport, id, request, listener);
  try {
    return await V1Connection.open(transport, id, request, listener);
  } catch (error) {
    const { session, since, signal, query } = request;
    const joins = since !== undefined || query['mode'] === 'ro';
    const reason = await explainRefusal(transport, id, error, { session, joins, signal });
    // The sandbox is running and the caller has access, so the server rejected the subprotocol.
    if (reason !== error || !(error instanceof NetworkError) || session !== undefined) throw reason;
    const connection = await RawConnection.open(transport, id, request, listener);
    transport.contractOnly = true;
    return connection;
  }
}
