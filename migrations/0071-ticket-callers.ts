import type { Migration } from '@svc/sql';

/** Who made a ticket and as what, so that a terminal ends when that is no longer so. Those without live 30 s at most. */
export const ticketCallers: Migration = {
  name: '0071-ticket-callers',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .alterTable('sandbox_ticket')
      .addColumn('caller', 'text', (column) => column.notNull().defaultTo('null'))
      .execute();
  },
};
