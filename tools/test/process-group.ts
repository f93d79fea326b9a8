import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { stripVTControlCharacters } from 'node:util';

export interface GroupOptions {
  command: string;
  args: readonly string[];
  cwd: string;
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
  /** Receives the command's whole output; overwritten. */
  logFile: string;
  /** Called with each line, without colors. */
  onLine?: (line: string) => void;
  /** Called with the id of the command's process once it runs. */
  onStarted?: (pid: number) => void;
  uid?: number;
  gid?: number;
}

export interface GroupOutcome {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
}

const KILL_AFTER_MS = 5_000;

/**
 * Runs a command as the leader of its own process group. When it exits, times out or the signal aborts, the whole group
 * is terminated, then killed. Rejects only if the command cannot be started.
 */
export async function runInGroup(options: GroupOptions): Promise<GroupOutcome> {
  const log = createWriteStream(options.logFile);
  const output = new PassThrough();
  output.pipe(log);
  if (options.onLine !== undefined) {
    const { onLine } = options;
    createInterface({ input: output }).on('line', (line) => onLine(stripVTControlCharacters(line)));
  }
  try {
    return await waitForGroup(options, output);
  } finally {
    output.end();
    await finished(log);
  }
}

function waitForGroup(options: GroupOptions, output: PassThrough): Promise<GroupOutcome> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const child = spawn(options.command, options.args, {
      cwd: options.cwd,
      env: options.environment,
      detached: true, // its own group, which can be ended as a whole
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    if (child.pid !== undefined) options.onStarted?.(child.pid);
    child.stdout.pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    let killTimer: NodeJS.Timeout | undefined;
    const end = (): void => {
      signalGroup(child.pid, 'SIGTERM');
      killTimer ??= setTimeout(() => signalGroup(child.pid, 'SIGKILL'), KILL_AFTER_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, options.timeoutMs);
    const release = (): void => {
      clearTimeout(timer);
      clearTimeout(killTimer);
      options.signal.removeEventListener('abort', end);
    };
    if (options.signal.aborted) end();
    else options.signal.addEventListener('abort', end, { once: true });
    child.once('error', (error) => {
      release();
      reject(error);
    });
    child.once('exit', () => signalGroup(child.pid, 'SIGKILL')); // also ends processes that the leader left behind
    child.once('close', (exitCode) => {
      release();
      resolve({ exitCode, timedOut });
    });
  });
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ESRCH') throw error; // ESRCH: all have ended
  }
}
