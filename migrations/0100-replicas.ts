import type { Migration } from '@svc/sql';

/** The processes that share this database. Each renews the lease of its row; times are the database's. */
export const replicas: Migration = {
  name: '0100-replicas',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('replica')
      .addColumn('id', 'text', (column) => column.primaryKey())
      // Differs with each start: it tells whose lease this is.
      .addColumn('boot_id', 'text', (column) => column.notNull())
      // The locked data folder on one boot of one machine; null if the machine cannot tell.
      .addColumn('place', 'text')
      .addColumn('url', 'text')
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('started_at', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
  },
};
