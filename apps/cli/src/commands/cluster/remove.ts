import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withClusters } from './with-clusters.ts';

export function registerClusterRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Delete a cluster and its history, and disconnect its agent; workloads keep running')
    .argument('<cluster>', 'Cluster name or ID')
    .action((name: string, flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        await clusters.delete(name, { signal });
        output.answer({ deleted: name }, [`Removed ${name}`]);
      }),
    );
}
