import type { Migration } from '@svc/sql';

/** Clusters, their agent tokens, and the live state that the last connection left. */
export const clustersRegistry: Migration = {
  name: '0030-clusters',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('cluster')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      // Counts up with each connection; whoever disconnects later than a newer one connected clears nothing.
      .addColumn('connection_epoch', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('connected', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('replica_id', 'text')
      .addColumn('lease_until', 'text')
      .addColumn('instance_id', 'text')
      .addColumn('protocol', 'text')
      .addColumn('connected_at', 'text')
      .addColumn('disconnected_at', 'text')
      .addColumn('last_seen_at', 'text')
      .addColumn('agent_version', 'text')
      .addColumn('kubernetes_version', 'text')
      .addColumn('capabilities', 'text')
      .addColumn('heartbeat_status', 'text')
      .addColumn('cpu_usage', 'double precision')
      .addColumn('memory_usage', 'double precision')
      .addColumn('active_pods', 'integer')
      .addColumn('health', 'text')
      .addColumn('nodes', 'integer')
      .addColumn('pods', 'integer')
      .addColumn('services', 'integer')
      .addColumn('status_at', 'text')
      .addColumn('event_sequence', 'bigint', (column) => column.notNull().defaultTo(0))
      // Newest outbox number of `instance_id` that is stored; an event at or below it is a repetition.
      .addColumn('outbox_sequence', 'bigint', (column) => column.notNull().defaultTo(0))
      .addUniqueConstraint('cluster_workspace_name', ['workspace_uuid', 'name'])
      .execute();

    await kysely.schema
      .createTable('cluster_token')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      // In the future while a rotated token still works, so that agents can be moved over without a gap.
      .addColumn('expires_at', 'text')
      .execute();
    await kysely.schema.createIndex('cluster_token_cluster').on('cluster_token').column('cluster_id').execute();
  },
};
