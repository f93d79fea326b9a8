import { UnexpectedAnswerError } from '../errors.ts';
import type { CallOptions } from '../transport.ts';
import { fromBase64, toBase64 } from './base64.ts';
import { CapturedOutput } from './captured-output.ts';
import { parseNotice, type NoticeListener } from './notice.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import { readServerEvents } from './server-events.ts';

/** A string runs in `sh -c`; an array runs directly. */
export type RunnableCommand = string | readonly string[];

/** Options of a command. */
export interface RunOptions extends CallOptions {
  /** Absolute path; defaults to the home directory. */
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  /** A user of the image, by name or number; root by default. Not supported on servers with only the raw terminal. */
  user?: string | undefined;
  /** Standard input; empty by default. */
  stdin?: string | Uint8Array | undefined;
  /**
   * Time limit of the command. Defaults to 60,000; the platform counts whole seconds. `timeoutMs` is the limit of the
   * call.
   */
  limitMs?: number | undefined;
  /** Bytes to keep of each output: its beginning and its end. Defaults to 1 MiB. */
  maxOutputBytes?: number | undefined;
  /** Called with output as it arrives. The command waits for the returned promises. */
  onStdout?: ((bytes: Uint8Array) => void | Promise<void>) | undefined;
  onStderr?: ((bytes: Uint8Array) => void | Promise<void>) | undefined;
  onNotice?: NoticeListener | undefined;
}

/** The outcome of a command. */
export interface CommandResult {
  stdout: string;
  stderr: string;
  /** 128 + signal number after a signal; -1 after the time limit. */
  exitCode: number;
  /** Name of the signal that ended the command, such as `SIGKILL`; null if it exited normally. */
  signal: string | null;
  durationMs: number;
  /** True if only the beginning and the end of an output were kept. */
  truncated: boolean;
  timedOut: boolean;
}

/** Default time limit of a command. */
export const DEFAULT_LIMIT_MS = 60_000;
/** Default number of bytes kept of each output. */
export const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;
/** Time limit of the response head, which arrives when the command starts; a sandbox may still be starting. */
const HEAD_TIMEOUT_MS = 90_000;
const INTERRUPTED = 'The connection ended before the command';

/** Runs a command by the exec route with streamed output. It ends with its time limit or the signal. */
export async function execCommand(
  transport: SandboxTransport,
  id: string,
  command: RunnableCommand,
  options: RunOptions,
): Promise<CommandResult> {
  const { cwd, env, user, stdin, signal, timeoutMs = HEAD_TIMEOUT_MS } = options;
  const body = {
    command: typeof command === 'string' ? command : [...command],
    ...(cwd === undefined ? {} : { workdir: cwd }),
    ...(env === undefined ? {} : { env }),
    ...(user === undefined ? {} : { user }),
    ...(stdin === undefined ? {} : encodeInput(stdin)),
    timeout_seconds: Math.max(1, Math.ceil((options.limitMs ?? DEFAULT_LIMIT_MS) / 1000)),
    encoding: 'base64',
    stream: true,
  };
  const headers = { accept: 'text/event-stream' };
  const response = await transport.stream('POST', `${pathOf(id)}/exec`, { body, headers, signal, timeoutMs });
  if (response.body === null) throw new UnexpectedAnswerError('The answer has no events');
  try {
    return await gather(response.body, options);
  } catch (error) {
    signal?.throwIfAborted();
    // The only error of an interrupted body read (WHATWG Fetch, 5.3).
    if (error instanceof TypeError) throw new CommandInterruptedError(INTERRUPTED, { cause: error });
    throw error;
  }
}

async function gather(body: ReadableStream<Uint8Array>, options: RunOptions): Promise<CommandResult> {
  const limitBytes = options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES;
  const [stdout, stderr] = [new CapturedOutput(limitBytes), new CapturedOutput(limitBytes)];
  let reason = INTERRUPTED;
  for await (const { event, data } of readServerEvents(body)) {
    // the route's documented events, checked below
    const fields = JSON.parse(data) as Readonly<Record<string, unknown>>;
    if (event === 'stdout' || event === 'stderr') {
      const bytes = fromBase64(parseText(fields['data']));
      (event === 'stdout' ? stdout : stderr).push(bytes);
      await (event === 'stdout' ? options.onStdout : options.onStderr)?.(bytes);
    } else if (event === 'notice') {
      options.onNotice?.(parseNotice(fields));
    } else if (event === 'error') {
      // Like a shell, report a missing command on stderr.
      reason = parseText(fields['message']);
      const bytes = new TextEncoder().encode(`${reason}\n`);
      stderr.push(bytes);
      await options.onStderr?.(bytes);
    } else if (event === 'exit') {
      const { exit_code: exitCode, signal, duration_ms: durationMs, timed_out: timedOut } = fields;
      return {
        stdout: stdout.text(),
        stderr: stderr.text(),
        exitCode: typeof exitCode === 'number' ? exitCode : -1,
        signal: typeof signal === 'string' ? signal : null,
        durationMs: typeof durationMs === 'number' ? durationMs : 0,
        truncated: stdout.truncated || stderr.truncated,
        timedOut: timedOut === true,
      };
    }
  }
  throw new CommandInterruptedError(reason);
}

/** The connection was lost while the command ran, so its outcome is unknown. The SDK never restarts it. */
export class CommandInterruptedError extends UnexpectedAnswerError {}

function encodeInput(stdin: string | Uint8Array): Record<string, unknown> {
  if (typeof stdin === 'string') return { stdin };
  return { stdin: toBase64(stdin), stdin_encoding: 'base64' };
}

function parseText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
