import type { Migration } from '@svc/sql';

/** One row: the id of the installation, and the fingerprint of the master key that all its replicas use. */
export const installation: Migration = {
  name: '0101-installation',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('installation')
      .addColumn('number', 'integer', (column) => column.primaryKey())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('master_key_id', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
  },
};
