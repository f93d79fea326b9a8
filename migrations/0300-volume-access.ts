import type { Migration } from '@svc/sql';

/** Volume tokens: what a credential was granted in one volume, like those of sandboxes. The token is derived from the id. */
export const volumeAccess: Migration = {
  name: '0300-volume-access',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_volume_access')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('volume_id', 'text', (column) => column.notNull().references('sandbox_volume.id').onDelete('cascade'))
      // Identifies the credential and its role: one token for each in a volume.
      .addColumn('holder', 'text', (column) => column.notNull())
      // Credential, action and grant, as JSON.
      .addColumn('granted', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('sandbox_volume_access_holder', ['volume_id', 'holder'])
      .execute();
  },
};
