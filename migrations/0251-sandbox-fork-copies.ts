import type { Migration } from '@svc/sql';

/** Volumes and buckets that forks of sandboxes under way have made, or are about to make. */
export const sandboxForkCopies: Migration = {
  name: '0251-sandbox-fork-copies',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_fork_copy')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('fork_id', 'text', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull()) // volume or bucket
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('source_name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
  },
};
