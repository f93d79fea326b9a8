import type { Migration } from '@svc/sql';

/** Credentials by which the nodes of a cluster pull images from the platform. The password is derived from the id. */
export const pullCredentials: Migration = {
  name: '0310-pull-credentials',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_pull_credential')
      .addColumn('id', 'text', (column) => column.primaryKey())
      // Whose nodes have it: a connected cluster, or the one of a node of the platform.
      .addColumn('subject', 'text', (column) => column.notNull().unique())
      // Whose templates it pulls; null: none.
      .addColumn('workspace_uuid', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
  },
};
