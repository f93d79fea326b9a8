import { defineQuotas } from '@svc/quotas';

/** Quotas on clusters and agent commands, per workspace and per owner. */
export const clusterQuotas = defineQuotas({
  clusters: {
    title: 'Clusters',
    unit: 'count',
    description: 'Clusters, connected or not',
    workspace: 'auto',
    owner: 'auto',
    auto: 'clusters.max_clusters_per_workspace, ten times that for an owner',
  },
  cluster_commands: {
    title: 'Cluster commands',
    unit: 'count',
    description: 'Commands of all clusters that wait or run: deployments, exec, logs',
    workspace: 1_000,
    owner: 2_000,
  },
});
