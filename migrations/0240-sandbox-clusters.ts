import type { Migration } from '@svc/sql';

/** Sandboxes in connected clusters, and what the replicas with the tunnels know about them. */
export const sandboxClusters: Migration = {
  name: '0240-sandbox-clusters',
  target: 'platform',
  up: async (kysely) => {
    // The cluster that runs the sandbox and the creator whose right to it is held, as JSON; null for the configured driver.
    await kysely.schema.alterTable('sandbox').addColumn('cluster', 'text').execute();
    await kysely.schema.createIndex('sandbox_driver').on('sandbox').columns(['driver', 'node']).execute();
    await kysely.schema
      .createTable('sandbox_cluster')
      .addColumn('cluster_id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      // Why the cluster runs no sandboxes; null if it does.
      .addColumn('reason', 'text')
      // Changes with what the agent allows.
      .addColumn('fingerprint', 'text')
      .addColumn('has_gvisor', 'integer', (column) => column.notNull())
      .addColumn('reported_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_cluster_workspace')
      .on('sandbox_cluster')
      .columns(['workspace_uuid'])
      .execute();
  },
};
