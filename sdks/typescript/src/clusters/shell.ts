import { apiErrorOf, NetworkError, type ApiError } from '../errors.ts';
import { connectSocket, type SocketLike } from '../socket.ts';
import { pause } from '../passing-failures.ts';
import type { CallOptions } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';

export interface ShellRequest {
  pod: string;
  namespace: string;
  /** Absent: the default container of the pod, or its only one. */
  container?: string | undefined;
  /** Absent: the best shell that the container has. */
  command?: readonly string[] | undefined;
  /** Without one the two outputs come apart. True by default. */
  tty?: boolean | undefined;
  cols?: number | undefined;
  rows?: number | undefined;
}

export interface ShellOutput {
  stream: 'stdout' | 'stderr';
  bytes: Uint8Array;
}

/** The next piece comes when this has returned or resolved; meanwhile the process is held back. */
export type ShellListener = (output: ShellOutput) => void | Promise<void>;

const STDIN = 0;
const STDERR = 2;
const MAX_WAITING_INPUT_BYTES = 1024 * 1024;
const MAX_INPUT_FRAME_BYTES = 256 * 1024;
const LOOK_AGAIN_MS = 20;

/** A process in a container, over one WebSocket. It ends with its connection: Kubernetes knows no way back to it. */
export class ClusterShell {
  /** Resolves when the process has ended; rejects when the connection is lost before, or nothing could be run. */
  readonly ended: Promise<{ exitCode: number }>;
  readonly #end = Promise.withResolvers<{ exitCode: number }>();
  readonly #ready = Promise.withResolvers<string>();
  #socket: SocketLike | null = null;
  /** Nothing is heard any more: the other side has told the end, or this one has left. */
  #over = false;
  #listener: ShellListener | null = null;
  readonly #waiting: ShellOutput[] = [];
  #showing = false;
  #exit: { exitCode: number } | null = null;
  #signal: AbortSignal | undefined;
  #closed: (() => void) | null = null;
  #container = '';

  private constructor() {
    this.ended = this.#end.promise;
    this.ended.catch(() => undefined); // heard by those who wait for it
    this.#ready.promise.catch(() => undefined);
  }

  /** Resolves when the process runs. */
  static async open(
    scope: ClusterScope,
    path: string,
    request: ShellRequest,
    options: CallOptions,
  ): Promise<ClusterShell> {
    const shell = new ClusterShell();
    const listener = {
      message: (data: string | Uint8Array): void => shell.#receive(data),
      close: (code: number, reason: string): void => shell.#lost(code, reason),
    };
    const address = { path: `/v1/clusters${path}/shell?${queryOf(scope, request)}`, query: {} };
    try {
      shell.#socket = await connectSocket(
        scope.transport,
        { ...address, protocols: ['shell.v1'], signal: options.signal },
        listener,
      );
    } catch (error) {
      throw await reasonOf(scope, path, request, error, options);
    }
    const abort = (): void => shell.close();
    options.signal?.addEventListener('abort', abort, { once: true });
    shell.#signal = options.signal;
    shell.#closed = () => options.signal?.removeEventListener('abort', abort);
    shell.#container = await shell.#ready.promise;
    return shell;
  }

  /** Where it runs. */
  get container(): string {
    return this.#container;
  }

  /** Output from its beginning; there is one listener. */
  onData(listener: ShellListener): void {
    this.#listener = listener;
    void this.#show();
  }

  /** Resolves when more may be typed. What is written after the end is lost. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += MAX_INPUT_FRAME_BYTES) {
      const piece = bytes.subarray(start, start + MAX_INPUT_FRAME_BYTES);
      const frame = new Uint8Array(piece.length + 1);
      frame[0] = STDIN;
      frame.set(piece, 1);
      if (this.#over) return;
      this.#socket?.send(frame);
      // No WebSocket tells when it has sent what waits, so it is looked at again.
      while ((this.#socket?.bufferedAmount ?? 0) > MAX_WAITING_INPUT_BYTES) await pause(LOOK_AGAIN_MS, undefined);
    }
  }

  /** For a process without a terminal; on a terminal it is Ctrl-D that says so. */
  finishInput(): void {
    this.#say({ type: 'eof' });
  }

  resize(cols: number, rows: number): void {
    this.#say({ type: 'resize', cols, rows });
  }

  /** Leaves it. A shell on a terminal is hung up; what does not heed that goes on. */
  close(): void {
    this.#over = true;
    this.#socket?.close(1000);
  }

  /** A browser logs an error for what is said into a socket that closes. */
  #say(control: object): void {
    if (this.#over) return;
    this.#socket?.send(JSON.stringify(control));
  }

  #receive(data: string | Uint8Array): void {
    if (typeof data !== 'string') {
      this.#waiting.push({ stream: data[0] === STDERR ? 'stderr' : 'stdout', bytes: data.subarray(1) });
      void this.#show();
      return;
    }
    const control = JSON.parse(data) as Record<string, unknown>; // each control is an object
    if (control['type'] === 'ready') this.#ready.resolve(String(control['container']));
    else if (control['type'] === 'exit') {
      this.#over = true;
      this.#exit = { exitCode: Number(control['exit_code']) };
      this.#settle();
    } else if (control['type'] === 'error') {
      this.#over = true;
      this.#fail(refusalOf(control));
    }
  }

  async #show(): Promise<void> {
    if (this.#showing) return;
    this.#showing = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      try {
        await this.#listener?.(next);
      } catch (error) {
        this.#fail(error);
        this.close();
      }
      this.#say({ type: 'ack', bytes: next.bytes.length + 1 });
    }
    this.#showing = false;
    this.#settle();
  }

  /** The end is told after all output before it. */
  #settle(): void {
    const isShown = this.#listener === null || (this.#waiting.length === 0 && !this.#showing);
    if (this.#exit !== null && isShown) this.#end.resolve(this.#exit);
  }

  #next(): ShellOutput | null {
    return this.#listener === null ? null : (this.#waiting.shift() ?? null);
  }

  #fail(error: unknown): void {
    this.#ready.reject(error);
    this.#end.reject(error);
  }

  #lost(code: number, reason: string): void {
    this.#closed?.();
    this.#socket = null;
    if (this.#exit !== null) return;
    if (this.#signal?.aborted === true) return this.#fail(this.#signal.reason);
    this.#fail(new NetworkError(`The shell was closed with ${code}${reason === '' ? '' : `: ${reason}`}`));
  }
}

/** As text, since the words of the command are one parameter each of the same name. */
function queryOf(scope: ClusterScope, { command = [], pod, namespace, ...rest }: ShellRequest): string {
  const query = new URLSearchParams({ pod, namespace, ack: 'true' });
  for (const [name, value] of Object.entries({ ...rest, ...scope.query })) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  for (const word of command) query.append('command', word);
  return query.toString();
}

function refusalOf({ status, code, message, details }: Record<string, unknown>): ApiError {
  return apiErrorOf({
    status: Number(status),
    code: String(code),
    message: String(message),
    requestId: null,
    details: typeof details === 'object' && details !== null ? { ...details } : {},
    retryAfterSeconds: null,
  });
}

/** A WebSocket that does not open tells its owner nothing, so the same caller asks for the pod. */
async function reasonOf(
  scope: ClusterScope,
  path: string,
  { pod, namespace }: ShellRequest,
  error: unknown,
  { signal }: CallOptions,
): Promise<unknown> {
  if (!(error instanceof NetworkError)) return error;
  try {
    await scope.call('GET', `${path}/pods`, { query: { namespace, name: pod, page_size: 1 }, signal });
    return error;
  } catch (reason) {
    return reason;
  }
}
