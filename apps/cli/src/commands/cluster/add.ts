import type { CreatedCluster } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { withClusters } from './with-clusters.ts';

/** FOLDER is the data folder of the platform. */
const IMAGE_COMMAND = 'svc agent image --data FOLDER';

export function registerClusterAdd(parent: Command): void {
  addConnectionOptions(parent.command('add'))
    .description('Register a cluster; prints the agent token, only once, and install commands')
    .argument('<name>', 'Lowercase letters, digits, and dashes')
    .action((name: string, flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const created = await clusters.create(name, { signal });
        output.answer(created, [
          `Registered ${created.name} (${created.id})`,
          tokenLine(created.token),
          '',
          ...installLines(created.install),
        ]);
      }),
    );
}

export function tokenLine(token: string): string {
  return `Token of its agent, shown this once: ${token}`;
}

export function installLines({ image, helm, kubectl }: CreatedCluster['install']): string[] {
  return [...imageLines(image), 'With Helm:', helm, 'With kubectl:', kubectl];
}

function imageLines(image: CreatedCluster['install']['image']): string[] {
  if (image === null) return [];
  return [
    ...(image.available
      ? []
      : ["The platform has no image of the agent to give; first, on the platform's machine:", IMAGE_COMMAND, '']),
    "The agent's image, first on each node (with k3s: k3s ctr instead of ctr):",
    image.command,
  ];
}
