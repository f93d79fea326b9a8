import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * Until when a version is locked, so that what may not be deleted is found without reading every row; and the
 * notifications that are still to be delivered, written in the transaction of the change that they tell of.
 */
export const objectProtection: Migration = {
  name: '0043-object-protection',
  target: 'objects',
  async up(database, dialect) {
    await database.schema.alterTable('object').addColumn('locked_until_ms', 'bigint').execute();
    await database.schema
      .createIndex('object_locked')
      .on('object')
      .columns(['bucket_id', 'locked_until_ms'])
      .where(sql.ref('locked_until_ms'), 'is not', null)
      .execute();
    await database.schema
      .createTable('notification')
      .addColumn('id', dialect === 'sqlite' ? 'integer' : 'bigserial', (column) => column.primaryKey())
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('destination', 'text', (column) => column.notNull()) // id of a rule of the bucket's document
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('event', 'text', (column) => column.notNull()) // JSON
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('notification_due')
      .on('notification')
      .columns(['next_attempt_at_ms', 'id'])
      .execute();
    await database.schema
      .createIndex('notification_order')
      .on('notification')
      .columns(['bucket_id', 'destination', 'key', 'id'])
      .execute();
    await database.schema
      .createTable('work_lease')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .execute();
  },
};
