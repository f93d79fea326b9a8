import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';

export interface RunResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Error code of a failed start. */
  readonly failure: string | null;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Root by default. */
  readonly user?: string;
  /** The home folder of the user by default. */
  readonly cwd?: string;
}

/** Runs one command without a terminal and collects its output. */
export async function runInSandbox(
  connection: HelperConnection,
  argv: readonly string[],
  { input, env = {}, ...place }: RunOptions = {},
): Promise<RunResult> {
  const output: Record<1 | 2, Buffer[]> = { 1: [], 2: [] };
  const stream = connection.start(
    { op: 'process.start', argv, env, ...place },
    {
      data: (bytes, channel) => {
        output[channel].push(Buffer.from(bytes));
        stream.consumed(bytes.length);
      },
    },
  );
  if (input !== undefined) await stream.write(Buffer.from(input));
  stream.finishInput();
  const outcome = await stream.outcome;
  const result = outcome.ok ? outcome.result : {};
  const text = (channel: 1 | 2): string => Buffer.concat(output[channel]).toString();
  return {
    exitCode: typeof result['exit_code'] === 'number' ? result['exit_code'] : null,
    signal: typeof result['signal'] === 'string' ? result['signal'] : null,
    stdout: text(1),
    stderr: text(2),
    failure: outcome.ok ? null : outcome.code,
  };
}
