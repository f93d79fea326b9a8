import type { Migration } from '@svc/sql';

/** How often sandboxes of clusters were restored, and when the next attempt is due. */
export const sandboxRestores: Migration = {
  name: '0321-sandbox-restores',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_restore')
      .addColumn('sandbox_id', 'text', (column) => column.primaryKey().references('sandbox.id').onDelete('cascade'))
      // Begun since the sandbox last ran for long.
      .addColumn('restores', 'integer', (column) => column.notNull())
      // Attempts since then that began nothing.
      .addColumn('refusals', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at', 'text', (column) => column.notNull())
      .execute();
  },
};
