import type { Migration } from '@svc/sql';

/** What agents report: events, heartbeats, and the averages that old heartbeats are folded into. */
export const clustersTelemetry: Migration = {
  name: '0032-cluster-telemetry',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('cluster_event')
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      // The agent's own id of the message: an event that is sent again after a lost acknowledgement is kept once.
      .addColumn('message_id', 'text', (column) => column.notNull())
      .addColumn('event_type', 'text', (column) => column.notNull())
      .addColumn('namespace', 'text', (column) => column.notNull())
      .addColumn('resource', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .addColumn('occurred_at', 'text', (column) => column.notNull())
      .addColumn('received_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('cluster_event_key', ['cluster_id', 'sequence'])
      .addUniqueConstraint('cluster_event_message', ['cluster_id', 'message_id'])
      .execute();
    await kysely.schema.createIndex('cluster_event_received').on('cluster_event').column('received_at').execute();

    await kysely.schema
      .createTable('cluster_heartbeat')
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('received_at', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('cpu_usage', 'double precision', (column) => column.notNull())
      .addColumn('memory_usage', 'double precision', (column) => column.notNull())
      .addColumn('active_pods', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('cluster_heartbeat_key', ['cluster_id', 'received_at'])
      .execute();
    await kysely.schema
      .createIndex('cluster_heartbeat_received')
      .on('cluster_heartbeat')
      .column('received_at')
      .execute();

    await kysely.schema
      .createTable('cluster_heartbeat_average')
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      // The first 15 characters of the instant: ten minutes, comparable as text on both dialects.
      .addColumn('bucket', 'text', (column) => column.notNull())
      .addColumn('samples', 'integer', (column) => column.notNull())
      .addColumn('cpu_usage', 'double precision', (column) => column.notNull())
      .addColumn('memory_usage', 'double precision', (column) => column.notNull())
      .addColumn('active_pods', 'double precision', (column) => column.notNull())
      .addPrimaryKeyConstraint('cluster_heartbeat_average_key', ['cluster_id', 'bucket'])
      .execute();
    await kysely.schema
      .createIndex('cluster_heartbeat_average_bucket')
      .on('cluster_heartbeat_average')
      .column('bucket')
      .execute();
  },
};
