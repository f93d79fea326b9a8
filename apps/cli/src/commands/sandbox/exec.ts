import { once } from 'node:events';
import type { NoticeListener, OutputChunk, ProcessExit, Sandbox } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, readPairs, withSandboxes, type SandboxSession } from './with-sandboxes.ts';
import { forwardInput } from '../forward-input.ts';

interface ExecFlags extends ConnectionFlags {
  cwd?: string;
  user?: string;
  env?: string[];
  timeout?: string;
  stdin: boolean;
}

/** As in timeout(1). */
const TIMED_OUT = 124;
const END_GRACE_MS = 2_000;

export function registerSandboxExec(parent: Command): void {
  addConnectionOptions(parent.command('exec'))
    .description('Run a command in a sandbox and return its exit code')
    .argument('<name or id>')
    .argument('<command...>', 'Shell script if one word, else a program and its arguments')
    .option('--cwd <folder>', 'Working directory (default the home directory)')
    .option('-u, --user <user>', 'User of the image, by name or number (default root)')
    .option('-e, --env <KEY=VALUE>', 'Set an environment variable; repeatable', collect)
    .option('--timeout <time>', 'Kill the command after this long; the exit code is 124')
    .option('--no-stdin', 'Do not pass standard input; required in shell loops that read a file')
    .passThroughOptions()
    .addHelpText('after', '\nPut options before the name. With --json, the result is one object with both outputs.')
    .action((name: string, command: string[], flags: ExecFlags) =>
      withSandboxes(flags, async (session) => {
        const sandbox = await session.find(name);
        const runnable = readCommand(command);
        if (flags.json === true) await runToEnd(session, sandbox, runnable, flags);
        else await runThrough(session, sandbox, runnable, flags);
      }),
    );
}

/** Skips a `--` between name and command, as in ssh or kubectl. */
function readCommand(words: readonly string[]): string | string[] {
  const [first, ...rest] = words[0] === '--' ? words.slice(1) : words;
  if (first === undefined) throw usageFailure('a command is required');
  return rest.length === 0 ? first : [first, ...rest];
}

async function runToEnd(
  { output, signal }: SandboxSession,
  sandbox: Sandbox,
  command: string | string[],
  flags: ExecFlags,
): Promise<void> {
  const stdin = flags.stdin && !process.stdin.isTTY ? await readInput() : undefined;
  const limitMs = flags.timeout === undefined ? 86_400_000 : readDurationMs(flags.timeout);
  const { exitCode, durationMs, timedOut, ...rest } = await sandbox.run(command, {
    ...placeOf(flags),
    stdin,
    limitMs,
    signal,
    onNotice: ({ message }) => output.warn(message),
  });
  output.answer({ ...rest, exit_code: exitCode, duration_ms: durationMs, timed_out: timedOut }, []);
  if (timedOut || exitCode !== 0) throw new CommandFailure('', { exitCode: timedOut ? TIMED_OUT : exitCode });
}

async function readInput(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of process.stdin) {
    const bytes = piece as Buffer; // no encoding is set
    sizeBytes += bytes.length;
    if (sizeBytes > 8 * 1024 * 1024)
      throw usageFailure('with --json, standard input is limited to 8 MiB', 'omit --json');
    pieces.push(bytes);
  }
  return Buffer.concat(pieces);
}

/** Streams input and output. Ctrl-C interrupts the command; one that ignores it keeps running. */
async function runThrough(
  { output, signal }: SandboxSession,
  sandbox: Sandbox,
  command: string | string[],
  flags: ExecFlags,
): Promise<void> {
  const onNotice: NoticeListener = ({ message }) => output.warn(message);
  const remote = await sandbox.spawn(command, { ...placeOf(flags), onNotice });
  remote.onData(async ({ channel, bytes }: OutputChunk) => {
    const stream = channel === 'stderr' ? process.stderr : process.stdout;
    if (!stream.write(bytes)) await once(stream, 'drain');
  });
  let timedOut = false;
  const end = (name: string): void => {
    remote.signal(name);
    timers.push(setTimeout(() => remote.kill(), END_GRACE_MS));
  };
  const timers: NodeJS.Timeout[] = [];
  if (flags.timeout !== undefined) {
    const expire = (): void => {
      timedOut = true;
      end('SIGTERM');
    };
    timers.push(setTimeout(expire, readDurationMs(flags.timeout)));
  }
  const interrupt = (): void => end('SIGINT');
  signal.addEventListener('abort', interrupt, { once: true });
  const input = flags.stdin ? forwardInput(remote) : remote.finishInput();
  try {
    const exit = await remote.ended;
    finish(exit, timedOut);
  } catch (error) {
    if (timedOut) throw new CommandFailure('', { exitCode: TIMED_OUT });
    signal.throwIfAborted();
    throw error;
  } finally {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
    process.stdin.destroy(); // nothing reads the remaining input
    await input;
  }
}

function finish({ exitCode }: ProcessExit, timedOut: boolean): void {
  if (timedOut) throw new CommandFailure('', { exitCode: TIMED_OUT });
  if (exitCode !== 0) throw new CommandFailure('', { exitCode });
}

function placeOf(flags: ExecFlags): {
  cwd: string | undefined;
  user: string | undefined;
  env: Record<string, string>;
} {
  return { cwd: flags.cwd, user: flags.user, env: readPairs(flags.env ?? [], 'variable') };
}
