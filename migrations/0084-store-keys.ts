import type { Migration } from '@svc/sql';

/**
 * The key-encryption keys of the object store, wrapped. They are in its own database: whoever has the rows, in a backup
 * too, has the keys that the rows need, in the same state.
 */
export const storeKeys: Migration = {
  name: '0084-store-keys',
  target: 'objects',
  async up(database) {
    await database.schema
      .createTable('store_key')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('wrapper', 'text', (column) => column.notNull()) // who unwraps it
      .addColumn('wrapped', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('closed', 'integer', (column) => column.notNull()) // 1: seals nothing new
      .execute();
  },
};
