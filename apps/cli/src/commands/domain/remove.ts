import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerDomainRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Remove a custom domain')
    .argument('<hostname>')
    .action((hostname: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        await (await connect()).store.domains.remove(hostname, { signal });
        output.answer({ hostname, removed: true }, [`Removed ${hostname}`]);
      }),
    );
}
