import { createApiError, NetworkError, type ApiError } from '../errors.ts';
import { OutputQueue } from '../output-queue.ts';
import { connectSocket } from '../socket.ts';
import { type SocketLike } from '../open-socket.ts';
import { pause } from '../passing-failures.ts';
import type { CallOptions } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';

/** The process to start in a container. */
export interface ShellRequest {
  pod: string;
  namespace: string;
  /** Defaults to the pod's default or only container. */
  container?: string | undefined;
  /** Defaults to the best shell in the container. */
  command?: readonly string[] | undefined;
  /** Allocates a terminal; without one, stdout and stderr are separate. Defaults to true. */
  tty?: boolean | undefined;
  cols?: number | undefined;
  rows?: number | undefined;
}

/** A piece of output. */
export interface ShellOutput {
  stream: 'stdout' | 'stderr';
  bytes: Uint8Array;
}

/**
 * Receives output. The next piece follows when the listener returns or its promise resolves; until then the process is
 * throttled.
 */
export type ShellListener = (output: ShellOutput) => void | Promise<void>;

const STDIN = 0;
const STDERR = 2;
const MAX_WAITING_INPUT_BYTES = 1024 * 1024;
const MAX_INPUT_FRAME_BYTES = 256 * 1024;
const CHECK_AGAIN_MS = 20;

/**
 * A process in a container, over one WebSocket. It ends with the connection: Kubernetes cannot reattach to it.
 *
 * @example
 * ```ts
 * const shell = await cluster.shell({ pod: 'web-0', namespace: 'default' });
 * shell.onData(({ bytes }) => void process.stdout.write(bytes));
 * await shell.write(new TextEncoder().encode('uname -a; exit\n'));
 * const { exitCode } = await shell.ended;
 * ```
 */
export class ClusterShell {
  /** Resolves when the process ends. Rejects if the connection is lost first or the process could not start. */
  readonly ended: Promise<{ exitCode: number }>;
  readonly #end = Promise.withResolvers<{ exitCode: number }>();
  readonly #ready = Promise.withResolvers<string>();
  #socket: SocketLike | null = null;
  /** True once the process ended or `close` was called; later messages are ignored. */
  #over = false;
  readonly #queue = new OutputQueue<ShellOutput>((bytes) => this.#sendControl({ type: 'ack', bytes: bytes + 1 }));
  #hasListener = false;
  #exit: { exitCode: number } | null = null;
  #signal: AbortSignal | undefined;
  #closed: (() => void) | null = null;
  #container = '';

  private constructor() {
    this.ended = this.#end.promise;
    this.ended.catch(() => undefined); // callers of `ended` get the error
    this.#ready.promise.catch(() => undefined);
  }

  /** Resolves when the process is running. */
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
      throw await findReason(scope, path, request, error, options);
    }
    const abort = (): void => shell.close();
    options.signal?.addEventListener('abort', abort, { once: true });
    shell.#signal = options.signal;
    shell.#closed = () => options.signal?.removeEventListener('abort', abort);
    shell.#container = await shell.#ready.promise;
    return shell;
  }

  /** The container that runs the process. */
  get container(): string {
    return this.#container;
  }

  /** Sets the output listener, which receives output from the beginning. There is one listener. */
  onData(listener: ShellListener): void {
    this.#hasListener = true;
    this.#queue.listen(async (output) => {
      try {
        await listener(output);
      } catch (error) {
        this.#fail(error);
        this.close();
      }
    });
  }

  /** Writes input. Resolves when there is room for more. Input after the end is dropped. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += MAX_INPUT_FRAME_BYTES) {
      const piece = bytes.subarray(start, start + MAX_INPUT_FRAME_BYTES);
      const frame = new Uint8Array(piece.length + 1);
      frame[0] = STDIN;
      frame.set(piece, 1);
      if (this.#over) return;
      this.#socket?.send(frame);
      // WebSockets don't report when buffered data is sent, so poll.
      while ((this.#socket?.bufferedAmount ?? 0) > MAX_WAITING_INPUT_BYTES) await pause(CHECK_AGAIN_MS, undefined);
    }
  }

  /** Closes stdin of a process without a terminal; on a terminal, send Ctrl-D. */
  finishInput(): void {
    this.#sendControl({ type: 'eof' });
  }

  /** Changes the terminal size. */
  resize(cols: number, rows: number): void {
    this.#sendControl({ type: 'resize', cols, rows });
  }

  /** Disconnects. A shell on a terminal gets SIGHUP; processes that ignore it keep running. */
  close(): void {
    this.#over = true;
    this.#socket?.close(1000);
  }

  /** Browsers log an error for sends on a closing socket. */
  #sendControl(control: object): void {
    if (this.#over) return;
    this.#socket?.send(JSON.stringify(control));
  }

  #receive(data: string | Uint8Array): void {
    if (typeof data !== 'string') {
      this.#queue.push({ stream: data[0] === STDERR ? 'stderr' : 'stdout', bytes: data.subarray(1) });
      return;
    }
    const control = JSON.parse(data) as Record<string, unknown>; // each control message is an object
    if (control['type'] === 'ready') this.#ready.resolve(String(control['container']));
    else if (control['type'] === 'exit') {
      this.#over = true;
      this.#exit = { exitCode: Number(control['exit_code']) };
      void this.#settle(this.#exit);
    } else if (control['type'] === 'error') {
      this.#over = true;
      this.#fail(parseRefusal(control));
    }
  }

  /** Settles `ended` after all output was delivered. */
  async #settle(exit: { exitCode: number }): Promise<void> {
    if (this.#hasListener) await this.#queue.drained();
    this.#end.resolve(exit);
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

/** Builds the query as text, because each word of the command is a repeated parameter. */
function queryOf(scope: ClusterScope, { command = [], pod, namespace, ...rest }: ShellRequest): string {
  const query = new URLSearchParams({ pod, namespace, ack: 'true' });
  for (const [name, value] of Object.entries({ ...rest, ...scope.query })) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  for (const word of command) query.append('command', word);
  return query.toString();
}

function parseRefusal({ status, code, message, details }: Record<string, unknown>): ApiError {
  return createApiError({
    status: Number(status),
    code: String(code),
    message: String(message),
    requestId: null,
    details: typeof details === 'object' && details !== null ? { ...details } : {},
    retryAfterSeconds: null,
  });
}

/** A WebSocket does not report why it failed to open, so request the pod with the same credential. */
async function findReason(
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
