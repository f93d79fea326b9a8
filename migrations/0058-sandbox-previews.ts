import type { Migration } from '@svc/sql';

/** Links to ports of sandboxes that were given out: what is not here was revoked. The links themselves are not kept. */
export const sandboxPreviews: Migration = {
  name: '0058-sandbox-previews',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_preview')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('port', 'integer', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_preview_sandbox')
      .on('sandbox_preview')
      .columns(['sandbox_id', 'id'])
      .execute();
  },
};
