import type { Migration } from '@svc/sql';

/** What sandboxes in each connected cluster lack, which differs by what its agent was given. */
export const clusterCapabilities: Migration = {
  name: '0330-cluster-capabilities',
  target: 'platform',
  up: async (kysely) => {
    // A JSON array; null if an earlier version reported, or if the cluster runs no sandboxes.
    await kysely.schema.alterTable('sandbox_cluster').addColumn('missing_capabilities', 'text').execute();
  },
};
