import { SvcError } from '../errors.ts';
import { OutputQueue } from '../output-queue.ts';
import { toBase64Url } from '../socket.ts';
import { CommandInterruptedError, type RunnableCommand } from './exec.ts';
import { explainRefusal } from './explain-refusal.ts';
import { InputWindow } from './input-window.ts';
import type { NoticeListener } from './notice.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import { V1Connection, type OutputChunk, type OutputListener, type ProcessExit } from './v1-connection.ts';

/** Options of a process. */
export interface ProcessOptions {
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  /** A user of the image, by name or number; root by default. */
  user?: string | undefined;
  /** Ends the process. */
  signal?: AbortSignal | undefined;
  onNotice?: NoticeListener | undefined;
}

/** The command is part of the WebSocket's URL. */
const MAX_PARAMETER_CHARACTERS = 16_384;

/**
 * A command connected by pipes: write input while it runs; stdout and stderr are separate. It ends if this client
 * disconnects.
 *
 * @example
 * ```ts
 * const sort = await sandbox.spawn('sort');
 * sort.onData(({ bytes }) => void process.stdout.write(bytes));
 * await sort.write('b\na\n');
 * sort.finishInput();
 * const { exitCode } = await sort.ended;
 * ```
 */
export class SandboxProcess {
  readonly #queue = new OutputQueue<OutputChunk>((bytes) => this.#connection?.acknowledge(bytes));
  readonly #ended = Promise.withResolvers<ProcessExit>();
  readonly #input = new InputWindow();
  #connection: V1Connection | null = null;
  #exit: ProcessExit | null = null;
  #error: string | null = null;

  private constructor() {
    this.#ended.promise.catch(() => undefined); // callers of `ended` get the error
  }

  /** Starts a command. Use `sandbox.spawn` instead. */
  static async start(
    transport: SandboxTransport,
    id: string,
    command: RunnableCommand,
    options: ProcessOptions = {},
  ): Promise<SandboxProcess> {
    const { signal } = options;
    const process = new SandboxProcess();
    const query = { cmd: commandParameter(argumentsOf(command, options)), user: options.user };
    try {
      process.#connection = await V1Connection.open(transport, id, { query, signal }, process.#listener(options));
    } catch (error) {
      throw await explainRefusal(transport, id, error, { session: undefined, joins: false, signal });
    }
    const abort = (): void => process.kill();
    signal?.addEventListener('abort', abort, { once: true });
    void process.#ended.promise.then(
      () => signal?.removeEventListener('abort', abort),
      () => signal?.removeEventListener('abort', abort),
    );
    return process;
  }

  /** Resolves when the command has ended and its output was consumed. Rejects if the connection is lost first. */
  get ended(): Promise<ProcessExit> {
    return this.#ended.promise;
  }

  /** Sets the output listener. There is one listener; output waits in the sandbox until its promise resolves. */
  onData(listener: OutputListener): void {
    this.#queue.listen(listener);
  }

  /** Writes to stdin. Resolves when sent; rejects if the command has ended. */
  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    return this.#input.send(bytes, () => this.#connection);
  }

  /** Closes stdin. */
  finishInput(): void {
    this.#connection?.control({ type: 'eof' });
  }

  /** Sends a signal, such as `SIGTERM`. */
  signal(name: string): void {
    this.#connection?.control({ type: 'signal', name });
  }

  /** Kills the process without waiting for its end. */
  kill(): void {
    this.#connection?.close();
  }

  #listener({ signal, onNotice }: ProcessOptions): Parameters<typeof V1Connection.open>[3] {
    return {
      started: ({ inputWindowBytes }) => this.#input.begin(inputWindowBytes),
      output: (chunk) => this.#queue.push(chunk),
      taken: (bytes) => this.#input.taken(bytes),
      lagged: () => undefined, // only sessions lose output
      failed: (_code, message) => {
        this.#error = message;
        const bytes = new TextEncoder().encode(`${message}\n`);
        this.#queue.push({ bytes, channel: 'stderr', replayed: false, screen: false, offset: 0 });
      },
      noticed: (notice) => onNotice?.(notice),
      exited: (exit) => {
        this.#exit = exit;
      },
      closed: (code, reason) => {
        this.#connection = null;
        this.#input.end();
        const exit = this.#exit;
        if (exit !== null) this.#queue.drained().then(() => this.#ended.resolve(exit), this.#ended.reject);
        else this.#ended.reject(createFailure(signal, this.#error ?? reason, code));
      },
    };
  }
}

function createFailure(signal: AbortSignal | undefined, reason: string, code: number): Error {
  if (signal?.aborted === true) return signal.reason instanceof Error ? signal.reason : new SvcError('Aborted');
  return new CommandInterruptedError(reason === '' ? `The connection was closed with ${code}` : reason);
}

function commandParameter(argv: readonly string[]): string {
  const parameter = toBase64Url(JSON.stringify(argv));
  if (parameter.length <= MAX_PARAMETER_CHARACTERS) return parameter;
  throw new SvcError('The command is too long: write it to a file of the sandbox, or use run()');
}

/** The URL has no place for a directory or variables, so a shell sets them and then execs the command. */
function argumentsOf(command: RunnableCommand, { cwd, env = {} }: ProcessOptions): string[] {
  const argv = typeof command === 'string' ? ['sh', '-c', command] : [...command];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  if (cwd === undefined && variables.length === 0) return argv;
  const folder = cwd ?? '.';
  return ['sh', '-c', 'cd -- "$1" && shift && exec env "$@"', 'sh', folder, ...variables, ...argv];
}
