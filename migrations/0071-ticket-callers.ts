import type { Migration } from '@svc/sql';

/**
 * Who made a ticket and as what, so that a terminal ends when that is no longer so. It holds the owner as well. Tickets
 * live 30 s: those that are there are let go, and whoever has one asks for another.
 */
export const ticketCallers: Migration = {
  name: '0071-ticket-callers',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.dropTable('sandbox_ticket').execute();
    await kysely.schema
      .createTable('sandbox_ticket')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('caller', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
  },
};
