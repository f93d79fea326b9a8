import type { Migration } from '@svc/sql';

/** Failed attempts to sign in by key, which all replicas count together. */
export const accountThrottle: Migration = {
  name: '0160-account-throttle',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('account_throttle')
      // What is counted, and the hash of whose attempts these are.
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('amount', 'double precision', (column) => column.notNull())
      // Since when they are being forgotten, in milliseconds since the Unix epoch.
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .execute();
    await kysely.schema.createIndex('account_throttle_by_time').on('account_throttle').column('at_ms').execute();
  },
};
