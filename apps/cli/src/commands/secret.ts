import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { printable } from '../client/output.ts';
import { readSecret } from '../client/read-secret.ts';
import { addConnectionOptions } from '../client/session.ts';
import { withSandboxes } from './sandbox/with-sandboxes.ts';

interface SetFlags extends ConnectionFlags {
  valueStdin?: boolean;
  file?: string;
}

/** `svc secret …` */
export function registerSecretCommand(program: Command): void {
  const secret = program.command('secret').description('Manage secrets that are added to requests of sandboxes');
  registerSet(secret);
  registerList(secret);
  registerRemove(secret);
}

function registerSet(parent: Command): void {
  addConnectionOptions(parent.command('set'))
    .description('Create a secret or replace its value, which is prompted for')
    .argument('<name>', 'Name, such as OPENAI_API_KEY')
    .option('--value-stdin', 'Read the value from standard input')
    .option('--file <path>', 'Read the value from a file')
    .action((name: string, flags: SetFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const set = await sandboxes.secrets.set(name, await readValue(flags), { signal });
        output.answer(set, [`Secret ${printable(set.name)} has version ${set.version}`]);
      }),
    );
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List secrets, without their values')
    .action((flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const secrets = await sandboxes.secrets.list({ signal });
        const rows = secrets.map(({ name, version, updated_at: updated }) => [name, String(version), updated]);
        output.answerTable(secrets, ['NAME', 'VERSION', 'UPDATED'], rows);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete secrets; requests stop carrying them within two seconds')
    .argument('<name...>')
    .action((names: string[], flags: ConnectionFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        for (const name of names) {
          await sandboxes.secrets.delete(name, { signal });
          output.note(`Deleted secret ${printable(name)}`);
        }
        if (output.json) output.answer({ deleted: names }, []);
      }),
    );
}

async function readValue({ file, valueStdin = false }: SetFlags): Promise<string> {
  if (file === undefined) return readSecret('Value', { piped: valueStdin });
  if (valueStdin) throw usageFailure('--file cannot be combined with --value-stdin');
  return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
}
