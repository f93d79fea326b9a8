import { defineQuotas } from '@svc/quotas';

/** Quotas on clusters and agent commands, per workspace and per owner. */
export const clusterQuotas = defineQuotas({
  clusters: {
    title: 'Clusters',
    unit: 'count',
    description: 'Clusters, connected or not',
    workspace: 'auto',
    owner: 'auto',
    auto: 'clusters.max_clusters_per_workspace, or ten times that per owner',
  },
  cluster_commands: {
    title: 'Cluster commands',
    unit: 'count',
    description: 'Queued and running commands (deployments, exec, logs) of all clusters',
    workspace: 1_000,
    owner: 2_000,
  },
});
