import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/** Uploads by their age, so that those that nobody ended are found without reading the others. */
export const lifecycle: Migration = {
  name: '0046-lifecycle',
  target: 'objects',
  async up(database) {
    await database.schema
      .createIndex('upload_open')
      .on('upload')
      .columns(['initiated_at_ms', 'upload_id'])
      .where(sql.ref('completed_at_ms'), 'is', null)
      .execute();
  },
};
