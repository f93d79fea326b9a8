import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ProgramOptions {
  environment?: Readonly<Record<string, string>>;
  input?: string;
  /** Working directory; defaults to that of this process. */
  folder?: string;
}

/** Runs a client program and returns its stdout; an error contains both outputs. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...options.environment },
    ...(options.folder === undefined ? {} : { cwd: options.folder }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdin.on('error', () => undefined); // A program may end without reading its input; its exit code decides.
  child.stdin.end(options.input ?? '');
  await once(child, 'close');
  if (child.exitCode === 0) return stdout;
  throw new Error(`${program} ended with ${child.signalCode ?? child.exitCode}:\n${stdout}\n${stderr}`);
}
