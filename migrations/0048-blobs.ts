import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/**
 * What is known of each blob by itself: its length and the checksum of its stored bytes, so that a scrub can verify it
 * without knowing what it is part of. Blobs of before have no checksum until the first scrub reads them.
 */
export const blobs: Migration = {
  name: '0048-blobs',
  target: 'objects',
  async up(database, dialect) {
    await database.schema
      .createTable('blob')
      .addColumn('blob_id', 'text', (column) => column.primaryKey())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('crc64nvme', 'text') // of the bytes as they are stored, 16 hexadecimal digits
      .addColumn('state', 'text', (column) => column.notNull()) // good, damaged, missing
      .addColumn('verified_at_ms', 'bigint', (column) => column.notNull())
      .modifyEnd(dialect === 'sqlite' ? sql`without rowid` : sql``)
      .execute();
    await sql`insert into blob (blob_id, size_bytes, state, verified_at_ms)
      select blob_id, max(size_bytes), 'good', 0 from (
        select blob_id, size_bytes from object where blob_id is not null
        union all select blob_id, size_bytes from part) as known group by blob_id`.execute(database);
    // The next to verify is the one that was verified longest ago: a scrub that stops goes on there.
    await database.schema.createIndex('blob_verified').on('blob').columns(['verified_at_ms', 'blob_id']).execute();
    await database.schema
      .createIndex('blob_not_good')
      .on('blob')
      .column('blob_id')
      .where(sql.ref('state'), '<>', sql.lit('good'))
      .execute();
    // While a backup copies, nothing of what its snapshot needs may be removed.
    await database.schema
      .createTable('trash_hold')
      .addColumn('holder', 'text', (column) => column.primaryKey())
      .addColumn('until_ms', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createTable('store_property')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
