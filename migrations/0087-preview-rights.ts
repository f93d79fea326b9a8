import type { Migration } from '@svc/sql';

/**
 * Tickets and preview links keep the credential that made them and what it was granted, so that they end with it.
 * Earlier ones do not know theirs and would outlive it: they are dropped, and their owners make new ones.
 */
export const previewRights: Migration = {
  name: '0087-preview-rights',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.dropTable('sandbox_ticket').execute();
    await kysely.schema
      .createTable('sandbox_ticket')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      // Credential, action and grant, as JSON.
      .addColumn('granted', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema.dropTable('sandbox_preview').execute();
    await kysely.schema
      .createTable('sandbox_preview')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('port', 'integer', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('granted', 'text', (column) => column.notNull())
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
