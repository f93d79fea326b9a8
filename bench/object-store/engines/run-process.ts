import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunningProcess {
  /** The latest output. */
  output(): string;
  /** Sends SIGTERM, then SIGKILL if it does not exit. */
  stop(): Promise<void>;
}

const OUTPUT_LIMIT = 8_192;
const END_TIMEOUT_MS = 15_000;

export function runProcess(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): RunningProcess {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_LIMIT);
    });
  }
  return {
    output: () => output,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}
