import { execFile, type ExecFileOptions } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface CommandOutcome {
  stdout: string;
  stderr: string;
}

/** Runs a program to its end; a failure's message contains the program's output. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: ExecFileOptions & { input?: string } = {},
): Promise<CommandOutcome> {
  const { input, ...rest } = options;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...args],
      { maxBuffer: 64 * 1024 * 1024, ...rest, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, stderr });
        else
          reject(new Error(`${program} ${args[0] ?? ''} failed: ${stderr.trim() || error.message}`, { cause: error }));
      },
    );
    child.stdin?.on('error', () => undefined); // a program may end without reading its input
    child.stdin?.end(input ?? '');
  });
}

/** Retries until the probe no longer throws; on timeout, its last error is the cause. */
export async function untilReady(what: string, timeoutMs: number, probe: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      await probe();
      return;
    } catch (cause) {
      if (performance.now() >= deadline) throw new Error(`${what} was not ready after ${timeoutMs} ms`, { cause });
    }
    await delay(100);
  }
}
