import type { ClusterInfo } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { renderAge } from './render.ts';
import { withClusters } from './with-clusters.ts';

const COLUMNS = ['NAME', 'ID', 'STATUS', 'KUBERNETES', 'AGENT', 'NODES', 'PODS', 'SEEN'];

export function registerClusterList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List clusters')
    .action((flags: ConnectionFlags) =>
      withClusters(flags, async ({ clusters, output, signal }) => {
        const found: ClusterInfo[] = [];
        for await (const cluster of clusters.list({ pageSize: 200 }, { signal })) found.push(cluster);
        const nowMs = Date.now();
        output.answerTable(
          found,
          COLUMNS,
          found.map((cluster) => renderRow(cluster, nowMs)),
        );
      }),
    );
}

function renderRow(cluster: ClusterInfo, nowMs: number): string[] {
  const { name, id, status, kubernetes_version: kubernetes, agent_version: agent, nodes, pods } = cluster;
  const counts = [nodes, pods].map((count) => (count === null ? '-' : String(count)));
  return [name, id, status, kubernetes ?? '-', agent ?? '-', ...counts, renderAge(cluster.last_seen_at, nowMs)];
}
