import type { Migration } from '@svc/sql';

/** The buckets that a sandbox mounts, as JSON. */
export const sandboxMounts: Migration = {
  name: '0220-sandbox-mounts',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox').addColumn('mounts', 'text').execute();
  },
};
