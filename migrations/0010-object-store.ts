import type { Migration } from '@svc/sql';
import { sql, type ColumnDataType, type Kysely } from 'kysely';

/**
 * The object store's own tables. Objects are clustered by (bucket, key, newest first): a page of a listing is one range
 * of one tree. Keys compare by the bytes of their UTF-8, hence `COLLATE "C"` on PostgreSQL; SQLite's text does it as is.
 */
export const objectStore: Migration = {
  name: '0010-object-store',
  target: 'objects',
  async up(database, dialect) {
    const shape = shapeFor(dialect);
    await createBuckets(database, shape);
    await createObjects(database, shape);
    await createUploads(database, shape);
    await createKeysAndTrash(database, shape);
  },
};

interface Shape {
  keyType: ColumnDataType | ReturnType<typeof sql>;
  bytesType: ColumnDataType;
  serialType: ColumnDataType;
  /** Rows live in the tree of their primary key. */
  clustered: ReturnType<typeof sql>;
}

function shapeFor(dialect: 'sqlite' | 'postgres'): Shape {
  if (dialect === 'sqlite') {
    return { keyType: 'text', bytesType: 'blob', serialType: 'integer', clustered: sql`without rowid` };
  }
  return { keyType: sql`text collate "C"`, bytesType: 'bytea', serialType: 'bigserial', clustered: sql`` };
}

async function createBuckets(database: Kysely<unknown>, shape: Shape): Promise<void> {
  await database.schema
    .createTable('tenant')
    .addColumn('workspace_uuid', 'text', (column) => column.primaryKey())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .execute();
  await database.schema
    .createTable('bucket')
    .addColumn('id', 'bigint', (column) => column.primaryKey())
    .addColumn('name', shape.keyType, (column) => column.notNull().unique())
    .addColumn('workspace_uuid', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('deleted_at_ms', 'bigint')
    .addColumn('purge_at_ms', 'bigint')
    .addColumn('versioning', 'text', (column) => column.notNull())
    .addColumn('encryption_mode', 'text', (column) => column.notNull())
    .addColumn('location_hint', 'text')
    .addColumn('settings', 'text', (column) => column.notNull())
    .execute();
  await database.schema.createIndex('bucket_workspace').on('bucket').columns(['workspace_uuid', 'name']).execute();
  await database.schema
    .createTable('bucket_usage')
    .addColumn('bucket_id', 'bigint', (column) => column.primaryKey())
    .addColumn('object_count', 'bigint', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .execute();
}

async function createObjects(database: Kysely<unknown>, shape: Shape): Promise<void> {
  await database.schema
    .createTable('inline_content')
    .addColumn('id', shape.serialType, (column) => column.primaryKey())
    .addColumn('data', shape.bytesType, (column) => column.notNull())
    .execute();
  await database.schema
    .createTable('object')
    .addColumn('bucket_id', 'bigint', (column) => column.notNull())
    .addColumn('key', shape.keyType, (column) => column.notNull())
    .addColumn('order_key', 'bigint', (column) => column.notNull()) // smaller is newer
    .addColumn('version_id', 'text', (column) => column.notNull())
    .addColumn('is_latest', 'integer', (column) => column.notNull())
    .addColumn('delete_marker', 'integer', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .addColumn('etag', 'text', (column) => column.notNull())
    .addColumn('modified_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('attributes', 'text', (column) => column.notNull()) // JSON
    .addColumn('checksum', 'text') // algorithm:type:value
    .addColumn('part_count', 'integer')
    .addColumn('inline_id', 'bigint')
    .addColumn('blob_id', 'text')
    .addColumn('manifest_id', 'text')
    .addPrimaryKeyConstraint('object_pk', ['bucket_id', 'key', 'order_key'])
    .modifyEnd(shape.clustered)
    .execute();
  // What a listing shows, without the older versions and delete markers that it would have to step over.
  await database.schema
    .createIndex('object_listed')
    .on('object')
    .columns(['bucket_id', 'key'])
    .where(sql.ref('is_latest'), '=', sql.lit(1))
    .where(sql.ref('delete_marker'), '=', sql.lit(0))
    .execute();
  // Whether anything still needs a blob; inline objects, the many, are in neither.
  await database.schema
    .createIndex('object_blob')
    .on('object')
    .column('blob_id')
    .where(sql.ref('blob_id'), 'is not', null)
    .execute();
  await database.schema
    .createIndex('object_manifest')
    .on('object')
    .column('manifest_id')
    .where(sql.ref('manifest_id'), 'is not', null)
    .execute();
}

async function createUploads(database: Kysely<unknown>, shape: Shape): Promise<void> {
  await database.schema
    .createTable('upload')
    .addColumn('upload_id', 'text', (column) => column.primaryKey())
    .addColumn('bucket_id', 'bigint', (column) => column.notNull())
    .addColumn('key', shape.keyType, (column) => column.notNull())
    .addColumn('initiated_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('initiator', 'text', (column) => column.notNull())
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('checksum_algorithm', 'text')
    .addColumn('checksum_type', 'text')
    .addColumn('completed_at_ms', 'bigint')
    .addColumn('result', 'text') // JSON of the answer, for a repeated completion
    .execute();
  await database.schema
    .createIndex('upload_listing')
    .on('upload')
    .columns(['bucket_id', 'key', 'upload_id'])
    .where(sql.ref('completed_at_ms'), 'is', null)
    .execute();
  await database.schema
    .createIndex('upload_completed')
    .on('upload')
    .column('completed_at_ms')
    .where(sql.ref('completed_at_ms'), 'is not', null)
    .execute();
  // The parts of an upload, and after its completion the manifest of the object: completing moves nothing.
  await database.schema
    .createTable('part')
    .addColumn('upload_id', 'text', (column) => column.notNull())
    .addColumn('part_number', 'integer', (column) => column.notNull())
    .addColumn('blob_id', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .addColumn('etag', 'text', (column) => column.notNull())
    .addColumn('checksum', 'text')
    .addColumn('modified_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('start_offset', 'bigint') // within the object, once completed
    .addPrimaryKeyConstraint('part_pk', ['upload_id', 'part_number'])
    .modifyEnd(shape.clustered)
    .execute();
  await database.schema.createIndex('part_blob').on('part').column('blob_id').execute();
}

async function createKeysAndTrash(database: Kysely<unknown>, shape: Shape): Promise<void> {
  await database.schema
    .createTable('access_key')
    .addColumn('access_key_id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_uuid', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('permissions', 'text', (column) => column.notNull()) // JSON array
    .addColumn('buckets', 'text') // JSON array of names, null = all
    .addColumn('sealed_secret', 'text', (column) => column.notNull())
    .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .addColumn('last_used_at_ms', 'bigint')
    .execute();
  await database.schema
    .createIndex('access_key_workspace')
    .on('access_key')
    .columns(['workspace_uuid', 'access_key_id'])
    .execute();
  // Bytes that nothing shows any more, unlinked after a grace so that running reads end well.
  await database.schema
    .createTable('trash')
    .addColumn('due_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('content_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('trash_pk', ['due_at_ms', 'content_id'])
    .modifyEnd(shape.clustered)
    .execute();
  await database.schema.createIndex('trash_content').on('trash').column('content_id').unique().execute();
}
