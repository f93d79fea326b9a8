import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/** Buckets made as forks of others, and the keys of those under way that changed in the source before they were copied. */
export const bucketForks: Migration = {
  name: '0230-bucket-forks',
  target: 'objects',
  async up(database, dialect) {
    const keyType = dialect === 'sqlite' ? ('text' as const) : sql`text collate "C"`;
    const clustered = dialect === 'sqlite' ? sql`without rowid` : sql``;
    await database.schema
      .createTable('bucket_fork')
      .addColumn('bucket_id', 'bigint', (column) => column.primaryKey())
      .addColumn('source_id', 'bigint', (column) => column.notNull())
      .addColumn('source_name', 'text', (column) => column.notNull())
      .addColumn('started_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('finished_at_ms', 'bigint')
      .addColumn('copied_through', keyType, (column) => column.notNull()) // every key up to this one is complete
      .addColumn('copied_count', 'bigint', (column) => column.notNull())
      .addColumn('copied_bytes', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('bucket_fork_open')
      .on('bucket_fork')
      .column('source_id')
      .where(sql.ref('finished_at_ms'), 'is', null)
      .execute();
    await database.schema
      .createTable('bucket_fork_key')
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('key', keyType, (column) => column.notNull())
      .addPrimaryKeyConstraint('bucket_fork_key_pk', ['bucket_id', 'key'])
      .modifyEnd(clustered)
      .execute();
  },
};
