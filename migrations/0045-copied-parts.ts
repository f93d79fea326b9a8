import type { Migration } from '@svc/sql';

/**
 * A part that was copied from stored bytes is a range of their blob: where it begins. Its length is the part's own, the
 * blob's stands with the blob.
 */
export const copiedParts: Migration = {
  name: '0045-copied-parts',
  target: 'objects',
  async up(database) {
    await database.schema
      .alterTable('part')
      .addColumn('blob_offset', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
