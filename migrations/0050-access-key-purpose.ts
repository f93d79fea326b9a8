import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * Keys that the store itself signs with, beside those that people made. One for each workspace: what it signed goes on
 * when the keys of people are revoked, and ends when it is.
 */
export const accessKeyPurpose: Migration = {
  name: '0050-access-key-purpose',
  target: 'objects',
  async up(database) {
    await database.schema
      .alterTable('access_key')
      .addColumn('purpose', 'text', (column) => column.notNull().defaultTo('user'))
      .execute();
    await database.schema
      .createIndex('access_key_presign')
      .unique()
      .on('access_key')
      .column('workspace_uuid')
      .where(sql<boolean>`purpose = 'presign'`)
      .execute();
  },
};
