import type { Migration } from '@svc/sql';

/**
 * Indexes for pages of commands and for retention. Without them a page sorts every command of the cluster, retention
 * reads every row with its payload to see when it ended, and each command that goes is looked for in all idempotency keys.
 */
export const clusterIndexes: Migration = {
  name: '0074-cluster-indexes',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createIndex('cluster_command_newest')
      .on('cluster_command')
      .columns(['cluster_id', 'created_at', 'id'])
      .execute();
    await kysely.schema.createIndex('cluster_command_finished').on('cluster_command').column('finished_at').execute();
    await kysely.schema
      .createIndex('cluster_idempotency_command')
      .on('cluster_idempotency')
      .column('command_id')
      .execute();
    await kysely.schema.createIndex('cluster_token_end').on('cluster_token').column('expires_at').execute();
  },
};
