import type { Migration } from '@svc/sql';

/** Deleted content that a replica still sends to a client. Each row is a lease; times are the database's. */
export const contentReads: Migration = {
  name: '0161-content-reads',
  target: 'objects',
  up: async (kysely) => {
    await kysely.schema
      .createTable('content_read')
      .addColumn('content_id', 'text', (column) => column.notNull())
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('until_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('content_read_pk', ['content_id', 'holder'])
      .execute();
    await kysely.schema.createIndex('content_read_by_end').on('content_read').column('until_ms').execute();
  },
};
