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
    .describe('A text is a script of sh; a list is a program and its arguments'),
  cwd: z.string().startsWith('/').optional().describe('Where it runs; the home folder by default'),
  environment: z.record(z.string(), z.string()).optional(),
  stdin: z.string().optional().describe('What it reads; nothing by default'),
  timeout_seconds: z.number().int().min(1).max(3600).optional().describe('60 by default; it is ended then'),
  max_output_bytes: z
    .number()
    .int()
    .min(1024)
    .max(MAX_OUTPUT_BYTES)
    .optional()
    .describe(`Of stdout and of stderr: beginning and end of more than that (${DEFAULT_OUTPUT_BYTES} by default)`),
});

export function addCommandTools(server: McpServer, { session: { find } }: ToolContext): void {
  addTool(server, {
    name: 'run_command',
    title: 'Run a command',
    description:
      'Runs a command in a sandbox as root until it ends, and answers stdout, stderr and exit_code. A failing command is an ' +
      'answer, not an error. For servers and other things that go on, end the script with & and send its output to a file.',
    input: command,
    destructive: true,
    async run(input, { signal, progress }) {
      const sandbox = await find(input.sandbox);
      const maxOutputBytes = input.max_output_bytes ?? DEFAULT_OUTPUT_BYTES;
      const decoder = new TextDecoder();
      const tell = (bytes: Uint8Array): void => progress(lastLine(decoder.decode(bytes)));
      const result = await sandbox.run(input.command, {
        cwd: input.cwd,
        env: input.environment,
        stdin: input.stdin,
        limitMs: (input.timeout_seconds ?? 60) * 1000,
        maxOutputBytes,
        signal,
        onStdout: tell,
        onStderr: tell,
      });
      return {
        exit_code: result.exitCode,
        stdout: result.stdout,
        stderr: result.stderr,
        duration_ms: result.durationMs,
        ...(result.signal !== null && { signal: result.signal }),
        ...(result.timedOut && { timed_out: true, note: 'The time was over and the command was ended.' }),
        ...(result.truncated && { truncated: true, hint: 'Send long output to a file and read that in pieces.' }),
      };
    },
  });
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return printable(line.slice(-SHOWN_CHARACTERS));
}
