import type { Migration } from '@svc/sql';

/** Sizes of the content of archives. Null: an earlier version wrote the archive. */
export const unpackedArchives: Migration = {
  name: '0312-unpacked-archives',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox_archive').addColumn('unpacked_bytes', 'bigint').execute();
  },
};
