import type { Migration } from '@svc/sql';

/** What each node for sandboxes last stated about itself, and whether an operator drains it. */
export const sandboxNodes: Migration = {
  name: '0140-sandbox-nodes',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_node')
      // The id of the replica.
      .addColumn('node', 'text', (column) => column.primaryKey())
      .addColumn('driver', 'text', (column) => column.notNull())
      .addColumn('max_running', 'integer', (column) => column.notNull())
      // Null if its sandboxes run on other machines.
      .addColumn('cpus', 'integer')
      .addColumn('memory_bytes', 'bigint')
      .addColumn('free_memory_bytes', 'bigint')
      .addColumn('free_disk_bytes', 'bigint')
      .addColumn('reported_at', 'text', (column) => column.notNull())
      // Null unless it is drained.
      .addColumn('drain_requested_at', 'text')
      .execute();
  },
};
