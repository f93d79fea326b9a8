import type { Migration } from '@svc/sql';

/**
 * Copies of snapshots that every node reaches, and what the archives of several snapshots are based on (`snapshot_id` is
 * null). Each row exists before the first byte is stored, so that nothing stored is ever without one.
 */
export const sandboxArchives: Migration = {
  name: '0200-sandbox-archives',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_archive')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('snapshot_id', 'text')
      .addColumn('base', 'text')
      // What can read it, such as `local/x64`.
      .addColumn('format', 'text', (column) => column.notNull())
      // The node that writes it.
      .addColumn('node', 'text', (column) => column.notNull())
      // writing, ready, removed, or abandoned: a writer may still be at work.
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      // The sealed key of its content.
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('box', 'text', (column) => column.notNull())
      .addColumn('used_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_archive_snapshot')
      .on('sandbox_archive')
      .columns(['snapshot_id'])
      .execute();
    await kysely.schema.createIndex('sandbox_archive_base').on('sandbox_archive').columns(['base']).execute();
    const snapshot = () => kysely.schema.alterTable('sandbox_snapshot');
    await snapshot().addColumn('archived_at', 'text').execute();
    // Reserved while it is written.
    await snapshot()
      .addColumn('archive_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await snapshot().addColumn('archive_error', 'text').execute();
  },
};
