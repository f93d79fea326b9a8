import type { Migration } from '@svc/sql';

/** What happens to a sandbox when its node is drained: `stop`, or `snapshot` for a stop and a snapshot. */
export const sandboxOnDrain: Migration = {
  name: '0141-sandbox-on-drain',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .alterTable('sandbox')
      .addColumn('on_drain', 'text', (column) => column.notNull().defaultTo('stop'))
      .execute();
  },
};
