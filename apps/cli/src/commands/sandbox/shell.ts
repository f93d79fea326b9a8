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
    .description('open a shell in a sandbox, on this terminal')
    .argument('<name or id>')
    .option('--session <name>', 'a shell that stays when this command goes: made, or joined when it is there')
    .option('--read-only', 'only look on')
    .option('--takeover', 'send the other clients of the session away')
    .option('--escape <character>', 'in place of ~, or none', '~')
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
  throw usageFailure(`${JSON.stringify(text)} is no key`, 'one character, or none');
}
