import type { Migration } from '@svc/sql';

/** What each replica knows of the schema, so that a migration that contracts waits for the ones that know too little. */
export const replicaSchema: Migration = {
  name: '0130-replica-schema',
  target: 'platform',
  up: async (kysely) => {
    // Name of the newest migration of its version; null if the version is older than this migration.
    await kysely.schema.alterTable('replica').addColumn('newest_migration', 'text').execute();
  },
};
