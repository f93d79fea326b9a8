import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * The outbox again, now that it is used: numbers that are never given twice, because receivers order events by them, and
 * deliveries that were given up and stay visible. Nothing wrote to the table of before.
 */
export const notificationDeliveries: Migration = {
  name: '0044-notification-deliveries',
  target: 'objects',
  async up(database, dialect) {
    await database.schema.dropTable('notification').execute();
    await database.schema
      .createTable('notification')
      .addColumn('id', dialect === 'sqlite' ? 'integer' : 'bigserial', (column) =>
        dialect === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
      )
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('destination', 'text', (column) => column.notNull()) // id of a rule of the bucket's document
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('event', 'text', (column) => column.notNull()) // JSON
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('last_error', 'text')
      .addColumn('failed_at_ms', 'bigint') // given up then
      .execute();
    await database.schema
      .createIndex('notification_queue')
      .on('notification')
      .columns(['bucket_id', 'destination', 'id'])
      .where(sql.ref('failed_at_ms'), 'is', null)
      .execute();
    await database.schema
      .createIndex('notification_order')
      .on('notification')
      .columns(['bucket_id', 'destination', 'key', 'id'])
      .where(sql.ref('failed_at_ms'), 'is', null)
      .execute();
    await database.schema
      .createIndex('notification_failed')
      .on('notification')
      .columns(['bucket_id', 'id'])
      .where(sql.ref('failed_at_ms'), 'is not', null)
      .execute();
    await database.schema
      .createIndex('notification_failed_at')
      .on('notification')
      .columns(['failed_at_ms'])
      .where(sql.ref('failed_at_ms'), 'is not', null)
      .execute();
  },
};
