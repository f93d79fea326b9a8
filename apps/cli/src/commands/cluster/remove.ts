import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withClusters } from './with-clusters.ts';

export function registerClusterRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('forget a cluster with its history, and send its agent away; what runs there goes on')
    .argument('<cluster>', 'name or id')
    .action((name: string, flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        await clusters.delete(name, { signal });
        output.answer({ deleted: name }, [`Removed ${name}`]);
      }),
    );
}
