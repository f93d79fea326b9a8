import type { Migration } from '@svc/sql';

/** What happens to a sandbox when it expires, and for how long a use continues it afterwards. */
export const sandboxExpiry: Migration = {
  name: '0151-sandbox-expiry',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .alterTable('sandbox')
      .addColumn('on_expiry', 'text', (column) => column.notNull().defaultTo('delete'))
      .execute();
    await kysely.schema.alterTable('sandbox').addColumn('resume_seconds', 'integer').execute();
  },
};
