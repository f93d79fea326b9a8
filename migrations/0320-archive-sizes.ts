import type { Migration } from '@svc/sql';

/** Whose quotas the archive of an image counts towards, and how much an archive takes once it is unpacked. */
export const archiveSizes: Migration = {
  name: '0320-archive-sizes',
  target: 'platform',
  up: async (kysely) => {
    const archive = () => kysely.schema.alterTable('sandbox_archive');
    // Null: of no workspace, such as an image of the catalog.
    await archive().addColumn('workspace_uuid', 'text').execute();
    // Null: an earlier version wrote it, or it is not complete.
    await archive().addColumn('unpacked_bytes', 'bigint').execute();
    await kysely.schema
      .createIndex('sandbox_archive_workspace')
      .on('sandbox_archive')
      .columns(['workspace_uuid'])
      .execute();
  },
};
