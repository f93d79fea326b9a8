import { sql } from 'kysely';
import type { Migration } from '@svc/sql';

/** Archives of the images of templates: since when an archive is complete, and why one could not be written. */
export const templateArchives: Migration = {
  name: '0301-template-archives',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox_archive').addColumn('ready_at', 'text').execute();
    await sql`update sandbox_archive set ready_at = used_at where state = 'ready'`.execute(kysely);
    await kysely.schema.alterTable('template_build').addColumn('archive_error', 'text').execute();
    await kysely.schema.createIndex('template_build_digest').on('template_build').columns(['digest']).execute();
  },
};
