import { SvcError } from '../errors.ts';
import type { QueryValue } from '../transport.ts';
import { InputWindow } from './input-window.ts';
import { openConnection } from './open-connection.ts';
import { OutputQueue, type OutputListener } from './output-queue.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { ProcessExit, Started, TerminalConnection, V1Listener } from './v1-connection.ts';

export interface TerminalOptions {
  /** 80 x 24 by default. */
  cols?: number | undefined;
  rows?: number | undefined;
  /** A shell that outlives this client: its name, which is joined when there is one, or `new` for one with a made name. */
  session?: string | undefined;
  /** Only what follows this offset; nothing is made then, and a session that has ended is refused. */
  since?: number | undefined;
  /**
   * What comes first when the session has more behind it than it keeps (1 MiB): its screen, drawn from a full reset on (the
   * default), or what is kept of the output, which may begin in the middle of anything.
   */
  replay?: 'screen' | 'output' | undefined;
  /** How long the session lives without a client. */
  lingerSeconds?: number | undefined;
  readOnly?: boolean | undefined;
  /** Sends the session's other clients away. */
  takeover?: boolean | undefined;
  /** Of the opening, and of the whole terminal. */
  signal?: AbortSignal | undefined;
  /** Whether a lost connection to a session is opened again, from where it broke. True by default. */
  reconnect?: boolean | undefined;
}

/** How a terminal ended: its shell did, or the connection was closed for another reason, such as 4004 (stopped). */
export interface TerminalEnd {
  exit: ProcessExit | null;
  /** Of the WebSocket; 1000 at the shell's end or after `close()`. */
  code: number;
  reason: string;
}

export type ConnectionState = 'connected' | 'reconnecting' | 'closed';

/** For good, whoever tries again; every other end is a broken connection. */
const FINAL_CODES: ReadonlySet<number> = new Set([1000, 1008, 4001, 4003, 4004, 4005, 4006, 4008, 4009]);
const MAX_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5_000;

/** A shell on a terminal of a sandbox. */
export class Terminal {
  readonly #transport: SandboxTransport;
  readonly #sandboxId: string;
  readonly #options: TerminalOptions;
  readonly #queue: OutputQueue;
  readonly #ended = Promise.withResolvers<TerminalEnd>();
  readonly #stateListeners = new Set<(state: ConnectionState) => void>();
  readonly #lagListeners = new Set<(lostBytes: number) => void>();
  readonly #abort = (): void => this.close();
  readonly #input = new InputWindow();
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

  /** Waits for a sandbox that is being made, at most a minute. */
  static async open(transport: SandboxTransport, sandboxId: string, options: TerminalOptions = {}): Promise<Terminal> {
    const terminal = new Terminal(transport, sandboxId, options);
    await terminal.#connect(options.session, options.since);
    options.signal?.addEventListener('abort', terminal.#abort, { once: true });
    return terminal;
  }

  /** The session's name, under which others join; null for a shell that ends with this terminal. */
  get sessionId(): string | null {
    return this.#process?.sessionId ?? null;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get shell(): string {
    return this.#process?.path ?? '';
  }

  /** How much of the output is from before this terminal was opened. */
  get replayedBytes(): number {
    return this.#process?.replayedBytes ?? 0;
  }

  /** Absolute offset behind the last byte that came: `since` of another terminal goes on from here. */
  get offset(): number {
    return this.#offset;
  }

  /** Resolves at the end, when all output was taken. Rejects with what a listener of the output threw. */
  get ended(): Promise<TerminalEnd> {
    return this.#ended.promise;
  }

  /** There is one listener. Output waits in the sandbox while the promise that it answers is pending. */
  onData(listener: OutputListener): void {
    this.#queue.listen(listener);
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** So many bytes of output were lost, because this client was far behind others of the session. */
  onLag(listener: (lostBytes: number) => void): () => void {
    this.#lagListeners.add(listener);
    return () => this.#lagListeners.delete(listener);
  }

  /** Types. Resolves when it has left; rejects when the connection is gone. */
  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    return this.#input.send(bytes, () => this.#connection);
  }

  resize(cols: number, rows: number): void {
    [this.#cols, this.#rows] = [cols, rows];
    this.#connection?.control({ type: 'resize', cols, rows });
  }

  /** Such as `SIGINT`, to what runs in the foreground. */
  signal(name: string): void {
    this.#connected().control({ type: 'signal', name });
  }

  /** Leaves. The shell goes as well, unless it is a session's. */
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
    const query = { cols: this.#cols, rows: this.#rows, ...sessionQuery(session, since, this.#options) };
    const ready = Promise.withResolvers<void>();
    // A shell that has ended may say all it has to say, and close, before anybody waits.
    ready.promise.catch(() => undefined);
    const request = { query, session, since, signal };
    this.#connection = await openConnection(this.#transport, this.#sandboxId, request, this.#listener(ready));
    await ready.promise;
    this.#tell('connected');
  }

  #listener(ready: PromiseWithResolvers<void>): V1Listener {
    return {
      started: (process) => {
        this.#process = process;
        this.#offset = process.offset;
        this.#input.begin(process.inputWindowBytes);
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
      exited: (exit) => {
        this.#exit = exit;
      },
      closed: (code, reason) => {
        ready.reject(new SvcError(reason === '' ? `The terminal was closed with ${code}` : reason));
        this.#lost(code, reason);
      },
    };
  }

  #lost(code: number, reason: string): void {
    this.#connection = null;
    this.#input.end();
    if (this.#process === null || this.#isOver) return;
    const { reconnect = true } = this.#options;
    const session = this.sessionId;
    if (this.#wasClosed || !reconnect || session === null || FINAL_CODES.has(code)) this.#finish(code, reason);
    else void this.#reconnect(session, code, reason);
  }

  /** Goes on at the offset where it broke, or with the screen when the session no longer has what follows that. */
  async #reconnect(session: string, code: number, reason: string): Promise<void> {
    this.#tell('reconnecting');
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
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#tell('closed');
    const end: TerminalEnd = { exit: this.#exit, code, reason };
    this.#queue.drained().then(() => this.#ended.resolve(end), this.#ended.reject);
    this.#ended.promise.catch(() => undefined); // heard by those who wait for it
  }

  #tell(state: ConnectionState): void {
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

/** The platform has answered, and would answer the same again. */
function isFinal(error: unknown): boolean {
  return error instanceof SvcError && 'status' in error && typeof error.status === 'number' && error.status < 500;
}
