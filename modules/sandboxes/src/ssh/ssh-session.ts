import { toAppError } from '@svc/errors';
import type { ServerChannel, Session, WindowSize } from 'ssh2';
import { TRANSFER_WINDOW_BYTES } from '../domain/helper/frames.ts';
import type { HelperConnection, HelperRequest } from '../domain/helper/helper-connection.ts';
import type { HelperStream, Outcome } from '../domain/helper/helper-stream.ts';
import { processEnvironment } from '../domain/egress-rules/process-environment.ts';
import { exitStatusOf } from '../domain/helper/exit-status.ts';
import { ChannelOutput } from './channel-output.ts';
import type { SessionKind } from './held-sandbox.ts';
import type { EnteredSession, SshSandbox } from './ssh-sandbox.ts';

/** Of all variables together; a command is limited by the size of a packet, 35,000 bytes. */
const MAX_VARIABLES = 64;
const MAX_VARIABLES_BYTES = 64 * 1024;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const MAX_EXTENT = 1000;
/** Exit code if a session could not be opened, or lost its sandbox. The client uses it for its own errors, too. */
const FAILED = 255;
/** Signals with a name in SSH (RFC 4254, section 6.10). A process that another one ended has an exit code. */
const SIGNALS: ReadonlySet<string> = new Set(
  ['ABRT', 'ALRM', 'FPE', 'HUP', 'ILL', 'INT', 'KILL', 'PIPE', 'QUIT', 'SEGV', 'TERM', 'USR1', 'USR2'].map(
    (name) => `SIG${name}`,
  ),
);

export interface SshSessionDeps {
  readonly sandbox: SshSandbox;
  /** Resolves once the connection accepts more data. */
  readonly drained: () => Promise<void>;
  /** Aborts when the connection has ended. */
  readonly gone: AbortSignal;
  /** Called with what the client was refused, or an unexpected error. */
  readonly failed: (error: unknown) => void;
  /** Called when the channel is in use, to bound what it may hold. */
  readonly opened: (channel: ServerChannel) => void;
}

/** One session channel: a shell, a command or SFTP, with or without a terminal. Everything else is refused. */
export class SshSession {
  /** Resolves when the client or this side has closed the channel. */
  readonly closed: Promise<void>;
  readonly #deps: SshSessionDeps;
  readonly #abandoned = new AbortController();
  readonly #env: Record<string, string> = {};
  #variablesBytes = 0;
  #size: (WindowSize & { readonly term: string }) | null = null;
  #stream: HelperStream | null = null;
  #isStarted = false;

  constructor(session: Session, deps: SshSessionDeps) {
    this.#deps = deps;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    const close = (): void => {
      this.#abandoned.abort();
      resolve();
    };
    session.on('close', close);
    deps.gone.addEventListener('abort', close, { once: true });
    void promise.then(() => deps.gone.removeEventListener('abort', close));
    this.#listen(session);
  }

  #listen(session: Session): void {
    session.on('env', (accept, reject, { key, val }) => (this.#setVariable(key, val) ? accept?.() : reject?.()));
    session.on('pty', (accept, reject, { cols, rows, term }) => {
      if (this.#isStarted) return reject?.();
      this.#size = { ...extent({ cols, rows }), term };
      accept?.();
    });
    session.on('window-change', (accept, _reject, size) => {
      this.#stream?.control({ type: 'resize', ...extent(size) });
      if (this.#size !== null) this.#size = { ...this.#size, ...extent(size) };
      accept?.();
    });
    session.on('signal', (accept, _reject, { name }) => {
      this.#stream?.control({ type: 'signal', name: `SIG${name}` });
      accept?.();
    });
    session.on('shell', (accept, reject) => this.#start('shell', null, accept, reject));
    session.on('exec', (accept, reject, { command }) => {
      if (command.includes('\0')) reject?.();
      else this.#start('exec', command, accept, reject);
    });
    session.on('subsystem', (accept, reject, { name }) => {
      if (name === 'sftp') this.#start('sftp', null, accept, reject);
      else reject?.();
    });
  }

  #setVariable(name: string, value: string): boolean {
    this.#variablesBytes += name.length + Buffer.byteLength(value);
    if (!VARIABLE.test(name) || value.includes('\0') || this.#variablesBytes > MAX_VARIABLES_BYTES) return false;
    if (this.#isStarted || Object.keys(this.#env).length >= MAX_VARIABLES) return false;
    this.#env[name] = value;
    return true;
  }

  #start(
    kind: SessionKind,
    command: string | null,
    accept: () => ServerChannel | undefined,
    reject: (() => void) | undefined,
  ): void {
    if (this.#isStarted) {
      reject?.();
      return;
    }
    const channel = accept();
    if (channel === undefined) return;
    this.#isStarted = true;
    channel.on('error', () => channel.close());
    channel.once('close', () => this.#abandoned.abort());
    this.#deps.opened(channel);
    const output = new ChannelOutput(channel, this.#deps.drained);
    this.#run(kind, command, channel, output).catch((error: unknown) => this.#fail(channel, output, error));
  }

  async #run(kind: SessionKind, command: string | null, channel: ServerChannel, output: ChannelOutput): Promise<void> {
    const { signal } = this.#abandoned;
    const entered = await this.#deps.sandbox.enter(kind, signal);
    try {
      const stream = this.#open(entered, kind, command, output);
      const abandon = (): void => stream.abandon();
      signal.addEventListener('abort', abandon, { once: true });
      if (signal.aborted) abandon();
      feed(channel, stream, entered.used);
      const outcome = await stream.outcome;
      // SFTP has no process; without its exit code, scp would fail.
      const ended: Outcome = kind === 'sftp' && outcome.ok ? { ok: true, result: { exit_code: 0 } } : outcome;
      if (!signal.aborted) await this.#report(channel, output, ended);
    } finally {
      entered.leave();
    }
  }

  #open(
    { connection, sandbox }: EnteredSession,
    kind: SessionKind,
    command: string | null,
    output: ChannelOutput,
  ): HelperStream {
    const size = this.#size;
    const term = size === null || size.term === '' ? {} : { TERM: size.term };
    const env = { ...processEnvironment(sandbox), ...this.#env, ...term };
    const tty = size === null ? {} : { tty: { cols: size.cols, rows: size.rows } };
    const stream =
      kind === 'sftp'
        ? open(connection, { op: 'sftp' }, output, TRANSFER_WINDOW_BYTES)
        : open(connection, { op: 'process.start', env, ...tty, ...program(command, size !== null) }, output);
    this.#stream = stream;
    return stream;
  }

  async #report(channel: ServerChannel, output: ChannelOutput, outcome: Outcome): Promise<void> {
    if (!outcome.ok && outcome.code === 'UNKNOWN_OPERATION') {
      await this.#end(channel, output, 'the sandbox was started by an earlier version; stop and start it to use SFTP');
      return;
    }
    if (!outcome.ok && (outcome.code === 'LOST' || outcome.code === 'DETACHED' || outcome.code === 'ABORTED')) {
      await this.#end(channel, output, 'the sandbox was stopped or deleted');
      return;
    }
    const { exitCode, signal, error } = exitStatusOf(outcome);
    if (error !== null) {
      await this.#end(channel, output, error.message, exitCode);
      return;
    }
    await this.#flush(output);
    if (signal !== null && SIGNALS.has(signal)) channel.exit(signal.slice('SIG'.length), false, '');
    else channel.exit(exitCode);
    channel.end();
  }

  #fail(channel: ServerChannel, output: ChannelOutput, error: unknown): void {
    if (this.#abandoned.signal.aborted) return;
    this.#deps.failed(error);
    const { code, message } = toAppError(error);
    void this.#end(channel, output, `${code}: ${message}`);
  }

  /** Ends the channel with a message on standard error. */
  async #end(channel: ServerChannel, output: ChannelOutput, message: string, code = FAILED): Promise<void> {
    const newline = this.#size === null ? '\n' : '\r\n';
    void output.write(Buffer.from(`svc: ${message}${newline}`), 2);
    await this.#flush(output);
    channel.exit(code);
    channel.end();
  }

  /** Waits until the client has taken all output, or is gone. */
  async #flush(output: ChannelOutput): Promise<void> {
    await Promise.race([output.flushed(), this.closed]);
  }
}

/** Without `argv`, the helper starts the login shell, which is interactive: it needs a terminal. */
function program(command: string | null, hasTerminal: boolean): { argv?: readonly string[] } {
  if (command !== null) return { argv: ['sh', '-c', command] };
  return hasTerminal ? {} : { argv: ['sh', '-l'] };
}

function open(
  connection: HelperConnection,
  request: HelperRequest,
  output: ChannelOutput,
  windowBytes?: number,
): HelperStream {
  const windows = windowBytes === undefined ? {} : { windowBytes, inputWindowBytes: windowBytes };
  const stream: HelperStream = connection.start(request, {
    ...windows,
    data: (bytes, to) => {
      const { length } = bytes;
      void output.write(bytes, to).then(() => stream.consumed(length));
    },
  });
  return stream;
}

/** Passes input on, one piece at a time: a process that does not read holds the client back. */
function feed(channel: ServerChannel, stream: HelperStream, used: () => void): void {
  let written: Promise<unknown> = Promise.resolve();
  channel.on('data', (bytes: Buffer) => {
    channel.pause();
    used();
    written = stream.write(bytes).then(() => channel.resume());
  });
  // The channel ends when its last piece has been read, also if that is still being written.
  channel.once('end', () => void written.then(() => stream.finishInput()));
}

/** Zero means unknown; larger values are capped. */
function extent({ cols, rows }: WindowSize): WindowSize {
  return { cols: Math.min(cols, MAX_EXTENT) || 80, rows: Math.min(rows, MAX_EXTENT) || 24 };
}
