import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * Counters of what takes room besides versions of objects: delete markers, open uploads with their parts, and deleted
 * bytes until their removal. Trash of before belongs to no workspace, and goes within its grace.
 */
export const storedUsage: Migration = {
  name: '0082-stored-usage',
  target: 'objects',
  async up(database) {
    for (const name of ['marker_count', 'upload_count', 'upload_bytes']) {
      await database.schema
        .alterTable('bucket_usage')
        .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
    }
    await database.schema
      .alterTable('tenant')
      .addColumn('trash_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await database.schema
      .alterTable('trash')
      .addColumn('size_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await database.schema.alterTable('trash').addColumn('workspace_uuid', 'text').execute();
    await database.schema
      .createIndex('trash_workspace')
      .on('trash')
      .columns(['workspace_uuid', 'due_at_ms'])
      .where(sql.ref('workspace_uuid'), 'is not', null)
      .execute();
    await sql`update bucket_usage set marker_count = coalesce((select count(*) from object
      where object.bucket_id = bucket_usage.bucket_id and object.delete_marker = 1), 0)`.execute(database);
    await sql`update bucket_usage set
      upload_count = coalesce((select count(*) from upload
        where upload.bucket_id = bucket_usage.bucket_id and upload.completed_at_ms is null), 0),
      upload_bytes = coalesce((select sum(part.size_bytes) from upload join part on part.upload_id = upload.upload_id
        where upload.bucket_id = bucket_usage.bucket_id and upload.completed_at_ms is null), 0)`.execute(database);
  },
};
