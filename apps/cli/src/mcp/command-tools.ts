import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { printable } from '../client/output.ts';
import { addTool, sandboxArgument, type ToolContext } from './tool.ts';

const DEFAULT_OUTPUT_BYTES = 48 * 1024;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const SHOWN_CHARACTERS = 200;

const command = z.object({
  sandbox: sandboxArgument,
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .describe('A string is a shell script (sh -c); an array is a program and its arguments'),
  cwd: z.string().startsWith('/').optional().describe('Working directory; defaults to the home directory'),
  environment: z.record(z.string(), z.string()).optional(),
  stdin: z.string().optional().describe('Standard input; empty by default'),
  timeout_seconds: z
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe('Timeout in seconds, after which the command is killed; defaults to 60'),
  max_output_bytes: z
    .number()
    .int()
    .min(1024)
    .max(MAX_OUTPUT_BYTES)
    .optional()
    .describe(
      `Maximum bytes of stdout and stderr each; the middle of longer output is omitted (${DEFAULT_OUTPUT_BYTES} by default)`,
    ),
});

export function addCommandTools(server: McpServer, { session: { find } }: ToolContext): void {
  addTool(server, {
    name: 'run_command',
    title: 'Run a command',
    description:
      'Run a command in a sandbox as root and return stdout, stderr and exit_code when it ends. A nonzero exit code is a ' +
      'result, not an error. For servers and other background processes, end the script with & and redirect output to a file.',
    input: command,
    destructive: true,
    async run(input, { signal, progress }) {
      const sandbox = await find(input.sandbox);
      const maxOutputBytes = input.max_output_bytes ?? DEFAULT_OUTPUT_BYTES;
      const decoder = new TextDecoder();
      const report = (bytes: Uint8Array): void => progress(lastLine(decoder.decode(bytes)));
      const result = await sandbox.run(input.command, {
        cwd: input.cwd,
        env: input.environment,
        stdin: input.stdin,
        limitMs: (input.timeout_seconds ?? 60) * 1000,
        maxOutputBytes,
        signal,
        onStdout: report,
        onStderr: report,
      });
      return {
        exit_code: result.exitCode,
        stdout: result.stdout,
        stderr: result.stderr,
        duration_ms: result.durationMs,
        ...(result.signal !== null && { signal: result.signal }),
        ...(result.timedOut && { timed_out: true, note: 'The command timed out and was killed.' }),
        ...(result.truncated && { truncated: true, hint: 'Redirect long output to a file and read it in parts.' }),
      };
    },
  });
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return printable(line.slice(-SHOWN_CHARACTERS));
}
