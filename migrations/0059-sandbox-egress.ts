import type { Migration } from '@svc/sql';

/** The hosts that a sandbox may reach, as a JSON list; null: whatever is public. */
export const sandboxEgress: Migration = {
  name: '0059-sandbox-egress',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox').addColumn('egress_allow', 'text').execute();
  },
};
