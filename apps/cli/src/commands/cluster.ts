import type { Command } from 'commander';
import { registerClusterAdd } from './cluster/add.ts';
import { registerClusterDeployments } from './cluster/deployments.ts';
import { registerClusterEvents } from './cluster/events.ts';
import { registerClusterList } from './cluster/list.ts';
import { registerClusterObjects } from './cluster/objects.ts';
import { registerClusterRemove } from './cluster/remove.ts';
import { registerClusterStatus } from './cluster/status.ts';
import { registerClusterToken } from './cluster/token.ts';
import { registerKubeconfigCommand } from './kubeconfig.ts';

/** `svc cluster …` */
export function registerClusterCommand(program: Command): void {
  const cluster = program.command('cluster').description('Manage Kubernetes clusters');
  registerClusterAdd(cluster);
  registerClusterList(cluster);
  registerClusterStatus(cluster);
  registerClusterObjects(cluster);
  registerClusterDeployments(cluster);
  registerClusterEvents(cluster);
  registerKubeconfigCommand(cluster);
  registerClusterToken(cluster);
  registerClusterRemove(cluster);
}
