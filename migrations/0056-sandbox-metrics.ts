import type { Migration } from '@svc/sql';

/** When a sandbox was paused, and what running ones used, sample by sample. */
export const sandboxMetrics: Migration = {
  name: '0056-sandbox-metrics',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox').addColumn('paused_at', 'text').execute();
    await kysely.schema
      .createTable('sandbox_metric')
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('at', 'text', (column) => column.notNull())
      .addColumn('cpu_millis', 'integer')
      .addColumn('memory_bytes', 'bigint')
      .addColumn('pids', 'integer')
      .addColumn('disk_bytes', 'bigint')
      .addPrimaryKeyConstraint('sandbox_metric_key', ['sandbox_id', 'at'])
      .execute();
    await kysely.schema.createIndex('sandbox_metric_at').on('sandbox_metric').column('at').execute();
  },
};
