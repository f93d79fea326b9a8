import type { Migration } from '@svc/sql';

/**
 * What a bucket is configured with, one document for each kind (policy, CORS rules, lifecycle, …). The bucket's row
 * carries the number of the last change, so that a reader that kept the documents knows from the row whether they still
 * hold.
 */
export const bucketDocuments: Migration = {
  name: '0040-bucket-documents',
  target: 'objects',
  async up(database) {
    await database.schema
      .createTable('bucket_document')
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('document', 'text', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('bucket_document_pk', ['bucket_id', 'name'])
      .execute();
    await database.schema
      .alterTable('bucket')
      .addColumn('configuration_version', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
