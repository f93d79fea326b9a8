import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

interface ForkFlags extends ConnectionFlags {
  name?: string;
  count?: string;
}

export function registerSandboxFork(parent: Command): void {
  addConnectionOptions(parent.command('fork'))
    .description('Fork a sandbox: create sandboxes with a copy of its files')
    .argument('<name or id>')
    .option('--name <name>', 'Name of the new sandbox')
    .option('--count <number>', 'Number of forks (default 1)')
    .action((name: string, flags: ForkFlags) =>
      withSandboxes(flags, async ({ find, output, signal }) => {
        const count = flags.count === undefined ? undefined : Number(flags.count);
        if (count !== undefined && !(Number.isInteger(count) && count > 0))
          throw usageFailure('--count must be a positive number');
        const source = await find(name);
        const forks = await source.fork({
          signal,
          ...(flags.name !== undefined && { name: flags.name }),
          ...(count !== undefined && { count }),
        });
        output.answer(
          forks,
          forks.map((fork) => `${printable(fork.name)} (${fork.id}) is ${fork.status}`),
        );
      }),
    );
}
