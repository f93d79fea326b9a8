import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * What each bucket and each workspace had, and what came and went, hour by hour and day by day. A row of a workspace has
 * the bucket 0; it is kept by itself, so that a year of a thousand buckets is read as one.
 */
export const usageHistory: Migration = {
  name: '0051-usage-history',
  target: 'objects',
  async up(database, dialect) {
    await database.schema
      .createTable('usage_history')
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('resolution', 'text', (column) => column.notNull()) // hour or day
      .addColumn('period_start_ms', 'bigint', (column) => column.notNull())
      .addColumn('object_count', 'bigint', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('request_count', 'bigint', (column) => column.notNull())
      .addColumn('bytes_in', 'bigint', (column) => column.notNull())
      .addColumn('bytes_out', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_history_pk', ['bucket_id', 'workspace_uuid', 'resolution', 'period_start_ms'])
      .modifyEnd(dialect === 'sqlite' ? sql`without rowid` : sql``)
      .execute();
    await database.schema
      .createIndex('usage_history_age')
      .on('usage_history')
      .columns(['resolution', 'period_start_ms'])
      .execute();
  },
};
