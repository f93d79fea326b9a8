import type { Clock } from '@svc/runtime';
import { processEnvironment } from '../egress-rules/process-environment.ts';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { LiveSandboxes } from '../live-sandboxes.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { processError } from './process-errors.ts';
import { listProcesses, type ProcessInfo, type ProcessSelector } from './process-info.ts';
import { ProcessStream } from './process-stream.ts';

/** Waits this long for a sandbox that is being created. */
const HOLD_WHILE_CREATING_MS = 60_000;

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Relative paths begin in the home directory, which null means. */
  readonly cwd: string | null;
  /** A user of the sandbox, by name or number; null for root. */
  readonly user: string | null;
  readonly tag: string | null;
  /** Runs the process on a terminal of this size; null for pipes. */
  readonly tty: TerminalSize | null;
  /** The process is killed after this time; null for no limit. */
  readonly timeoutMs: number | null;
}

export interface ProcessServiceOptions {
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly clock: Clock;
  /** Maximum number of processes of a sandbox that are followed at once. */
  readonly maxFollowed: number;
}

/** Processes of one running sandbox that outlive the requests that start them. */
export class SandboxProcesses {
  readonly #connection: HelperConnection;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #begin: () => () => void;
  readonly #follow: () => () => void;

  /** `begin` marks the sandbox as in use, `follow` takes one of its streams; each returns the function that ends it. */
  constructor(
    connection: HelperConnection,
    environment: Readonly<Record<string, string>>,
    begin: () => () => void,
    follow: () => () => void,
  ) {
    this.#connection = connection;
    this.#environment = environment;
    this.#begin = begin;
    this.#follow = follow;
  }

  /** Starts a process that keeps running without the stream. Call `close` on the stream. */
  start({ argv, env, cwd, user, tag, tty, timeoutMs }: ProcessRequest): Promise<ProcessStream> {
    return this.#open({
      op: 'process.start',
      detached: true,
      argv,
      env: { ...this.#environment, ...env },
      ...(cwd === null ? {} : { cwd }),
      ...(user === null ? {} : { user }),
      ...(tag === null ? {} : { tag }),
      ...(tty === null ? {} : { tty }),
      ...(timeoutMs === null ? {} : { timeout_ms: timeoutMs }),
    });
  }

  /** Joins a process. Its earlier output is not repeated. */
  attach(selector: ProcessSelector): Promise<ProcessStream> {
    return this.#open({ op: 'process.attach', ...selector });
  }

  list(): Promise<readonly ProcessInfo[]> {
    return listProcesses(this.#connection);
  }

  /** Sends a signal such as `SIGTERM` to the process group; on a terminal, to its shell. */
  signal(selector: ProcessSelector, name: string): Promise<void> {
    return this.#call({ op: 'process.signal', ...selector, signal: name });
  }

  /** Resolves when the process has room for all bytes. Throws PROCESS_INPUT_CLOSED. */
  async write(selector: ProcessSelector, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const end = this.#begin();
    const stream = this.#connection.start({ op: 'process.input', ...selector });
    const abandon = (): void => stream.abandon();
    signal.addEventListener('abort', abandon, { once: true });
    if (signal.aborted) abandon();
    try {
      await stream.write(bytes);
      stream.finishInput();
      const outcome = await stream.outcome;
      if (!outcome.ok) throw processError(outcome);
    } finally {
      signal.removeEventListener('abort', abandon);
      end();
    }
  }

  closeInput(selector: ProcessSelector): Promise<void> {
    return this.#call({ op: 'process.close_input', ...selector });
  }

  resize(selector: ProcessSelector, tty: TerminalSize): Promise<void> {
    return this.#call({ op: 'process.resize', ...selector, tty });
  }

  async #open(request: { readonly op: string } & Readonly<Record<string, unknown>>): Promise<ProcessStream> {
    const release = this.#follow();
    const endActivity = this.#begin();
    const end = (): void => {
      release();
      endActivity();
    };
    try {
      const stream = await ProcessStream.open(this.#connection, request);
      stream.exit().then(end, end);
      return stream;
    } catch (error) {
      end();
      throw error;
    }
  }

  async #call(request: { readonly op: string } & Readonly<Record<string, unknown>>): Promise<void> {
    this.#begin()();
    const outcome = await this.#connection.call(request);
    if (!outcome.ok) throw processError(outcome);
  }
}

/** Opens the processes of a sandbox. Throws 404 for a sandbox of another workspace, 409 if it is not running. */
export class ProcessService {
  readonly #options: ProcessServiceOptions;
  readonly #followed = new Map<string, number>();

  constructor(options: ProcessServiceOptions) {
    this.#options = options;
  }

  /** Waits for a sandbox that is being created. */
  async of(workspaceUuid: string, id: string, signal: AbortSignal): Promise<SandboxProcesses> {
    const { service, live, clock } = this.#options;
    const sandbox = await service.settled(workspaceUuid, id, HOLD_WHILE_CREATING_MS, signal);
    const connection = await service.connectionTo(sandbox);
    connection.require('processes');
    const begin = (): (() => void) => live.begin(id, clock.nowMs());
    return new SandboxProcesses(connection, processEnvironment(sandbox), begin, () => this.#follow(id));
  }

  #follow(id: string): () => void {
    const count = this.#followed.get(id) ?? 0;
    const { maxFollowed: limit } = this.#options;
    if (count >= limit) throw sandboxErrors.TOO_MANY_COMMANDS({ details: { limit } });
    this.#followed.set(id, count + 1);
    return () => {
      const left = (this.#followed.get(id) ?? 1) - 1;
      if (left === 0) this.#followed.delete(id);
      else this.#followed.set(id, left);
    };
  }
}
