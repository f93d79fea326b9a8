import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * Who created an access key, and with which token: a key gives no more than its maker may do. `created_by` holds the id of
 * the user or service account; keys from before count as created by a sign-in of that user.
 *
 * Keys that the store presigns with belong to a maker too. Those from before belong to nobody, so that they would outlive
 * everybody's rights: they go, and the URLs that they signed end with them.
 */
export const accessKeyMakers: Migration = {
  name: '0077-access-key-makers',
  target: 'objects',
  async up(database) {
    const table = database.schema.alterTable('access_key');
    await table.addColumn('maker_token_id', 'text').execute();
    await table.addColumn('maker_kind', 'text', (column) => column.notNull().defaultTo('user')).execute();
    await table.addColumn('maker_name', 'text', (column) => column.notNull().defaultTo('')).execute();
    await sql`delete from access_key where purpose = 'presign'`.execute(database);
    await database.schema.dropIndex('access_key_presign').execute();
    await sql`create unique index access_key_presign on access_key
      (workspace_uuid, created_by, coalesce(maker_token_id, '')) where purpose = 'presign'`.execute(database);
  },
};
