import { spawn } from 'node:child_process';

const KEPT_OUTPUT_CHARACTERS = 4000;

export interface ToolOptions {
  readonly signal: AbortSignal;
  readonly cwd?: string;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export class ToolFailure extends Error {}

/**
 * Runs a distribution program to completion and returns its output (bounded). Throws `ToolFailure` with the end of its
 * standard error. An abort kills the program and all its children.
 */
export async function runTool(command: string, args: readonly string[], options: ToolOptions): Promise<string> {
  options.signal.throwIfAborted();
  const child = spawn(command, args, {
    cwd: options.cwd ?? '/',
    // Own process group: package tools start many programs, and an abort must reach them all.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LC_ALL: 'C.UTF-8',
      ...options.environment,
    },
  });
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, 1024 * 1024);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-KEPT_OUTPUT_CHARACTERS);
  });
  const kill = (): void => {
    // A process that left the group may hold the pipes open, and `close` would wait for it.
    child.stdout.destroy();
    child.stderr.destroy();
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it exited in the meantime
    }
  };
  options.signal.addEventListener('abort', kill, { once: true });
  try {
    child.stdin.on('error', () => undefined); // the exit code reports a program that ends before it has read its input
    child.stdin.end(options.input ?? '');
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) => reject(new ToolFailure(`${command}: ${error.message}`, { cause: error })));
      child.once('close', (exitCode) => resolve(exitCode));
    });
    options.signal.throwIfAborted();
    if (code !== 0) throw new ToolFailure(`${command} failed: ${lastLines(complaint) || `exit code ${code}`}`);
    return output;
  } finally {
    options.signal.removeEventListener('abort', kill);
  }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ');
}
