import type { Migration } from '@svc/sql';

/** What happens to a sandbox when its node is lost or drained, and what sandboxes that moved left on their earlier nodes. */
export const sandboxMoves: Migration = {
  name: '0201-sandbox-moves',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .alterTable('sandbox')
      .addColumn('on_node_lost', 'text', (column) => column.notNull().defaultTo('wait'))
      .execute();
    // Beside `on_drain`, whose values earlier versions know.
    await kysely.schema
      .alterTable('sandbox')
      .addColumn('moves_on_drain', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await kysely.schema
      .createTable('sandbox_move')
      .addColumn('sandbox_id', 'text', (column) => column.notNull())
      .addColumn('from_node', 'text', (column) => column.notNull())
      .addColumn('moved_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('sandbox_move_key', ['sandbox_id', 'from_node'])
      .execute();
    await kysely.schema.createIndex('sandbox_move_node').on('sandbox_move').columns(['from_node']).execute();
  },
};
