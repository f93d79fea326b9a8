import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { OwnTerminal } from '../../terminal/own-terminal.ts';
import { runShell } from '../../terminal/run-shell.ts';
import { withSandboxes } from './with-sandboxes.ts';

interface ShellFlags extends ConnectionFlags {
  session?: string;
  readOnly?: boolean;
  takeover?: boolean;
  escape: string;
}

export function registerSandboxShell(parent: Command): void {
  addConnectionOptions(parent.command('shell'))
    .description('Open a shell in a sandbox')
    .argument('<name or id>')
    .option('--session <name>', 'Create or join a named session, which outlives this command')
    .option('--read-only', 'Watch only; ignore input')
    .option('--takeover', 'Disconnect other clients of the session')
    .option('--escape <character>', 'Escape character, or none', '~')
    .addHelpText(
      'after',
      '\nThe exit code is the shell’s. At the beginning of a line ~. ends it, ~d leaves it running to come back to,' +
        '\n~? shows the keys. A lost connection is opened again, from where it broke.',
    )
    .action((name: string, flags: ShellFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const own = new OwnTerminal(process.stdin, process.stdout, 'svc sandbox exec runs a command without one');
        await runShell(own, {
          sandbox: await find(name),
          session: flags.session ?? null,
          readOnly: flags.readOnly === true,
          takeover: flags.takeover === true,
          escape: readEscape(flags.escape),
          note: (line) => output.warn(line),
          signal,
        });
      }),
    );
}

function readEscape(text: string): string | null {
  if (text === 'none') return null;
  if (/^[!-~]$/.test(text)) return text;
  throw usageFailure(`${JSON.stringify(text)} is not an escape character`, 'use one character, or none');
}
