import type { Migration } from '@svc/sql';

/** Secrets that all replicas share, wrapped by the master key: signing keys, the preview key, the local authority. */
export const sealedSecrets: Migration = {
  name: '0111-sealed-secrets',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sealed_secret')
      .addColumn('name', 'text', (column) => column.primaryKey())
      // Counts the changes of this secret.
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('box', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute();
  },
};
