import type { ClusterStatus } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { renderAge } from './render.ts';
import { withClusters } from './with-clusters.ts';

export function registerClusterStatus(parent: Command): void {
  addConnectionOptions(parent.command('status'))
    .description('Show the status of a cluster and its agent; --json includes the last hour of heartbeats')
    .argument('<cluster>', 'Cluster name or ID')
    .action((name: string, flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const status = await clusters.of(name).status({}, { signal });
        output.answer(status, renderLines(status, Date.now()));
      }),
    );
}

function renderLines({ cluster }: ClusterStatus, nowMs: number): string[] {
  const { heartbeat } = cluster;
  const fields: readonly [string, string | number | null][] = [
    ['Name', cluster.name],
    ['Id', cluster.id],
    ['Status', cluster.status],
    ['Health', cluster.health],
    ['Last seen', cluster.last_seen_at === null ? null : `${renderAge(cluster.last_seen_at, nowMs)} ago`],
    ['Kubernetes', cluster.kubernetes_version],
    ['Agent', cluster.agent_version],
    ['Nodes', cluster.nodes],
    ['Pods', cluster.pods],
    ['Services', cluster.services],
    ['CPU', heartbeat === null ? null : percent(heartbeat.cpu_usage)],
    ['Memory', heartbeat === null ? null : percent(heartbeat.memory_usage)],
  ];
  return [
    ...fields.map(([label, value]) => `${label.padEnd(12)}${value === null ? '-' : printable(String(value))}`),
    ...cluster.warnings.map(({ message }) => `Warning     ${printable(message)}`),
  ];
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 100)} %`;
}
