import type { CreatedCluster, RotatedToken } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withClusters } from './with-clusters.ts';

export function registerClusterAdd(parent: Command): void {
  addConnectionOptions(parent.command('add'))
    .description('register a cluster; prints the token of its agent, this once, and how to install the agent')
    .argument('<name>', 'a to z, 0 to 9 and dashes')
    .action((name: string, flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const created = await clusters.create(name, { signal });
        output.answer(created, [`Registered ${created.name} (${created.id})`, ...tokenLines(created)]);
      }),
    );
}

export function tokenLines({ token, install }: CreatedCluster | RotatedToken): string[] {
  return [
    `Token of its agent, shown this once: ${token}`,
    '',
    'With Helm:',
    install.helm,
    '',
    'With kubectl:',
    install.kubectl,
  ];
}
