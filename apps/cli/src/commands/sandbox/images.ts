import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withSandboxes } from './with-sandboxes.ts';

export function registerSandboxImages(parent: Command): void {
  addConnectionOptions(parent.command('images'))
    .description('List available images')
    .option('--all', 'Include less common images')
    .action((flags: ConnectionFlags & { all?: boolean }) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const images = await sandboxes.images({ all: flags.all === true, signal });
        output.answerTable(
          images,
          ['NAME', 'HERE', 'ALIASES', 'DESCRIPTION'],
          images.map(({ name, cached, aliases, description }) => [
            name,
            cached ? 'yes' : 'not yet',
            aliases.join(', '),
            description,
          ]),
        );
      }),
    );
}
