import type { Migration } from '@svc/sql';

/** What happened to sandboxes, numbered within their workspace. */
export const sandboxEvents: Migration = {
  name: '0055-sandbox-events',
  target: 'platform',
  up: async (kysely) => {
    // The row is locked until its transaction commits: events of a workspace become visible in the order of their numbers.
    await kysely.schema
      .createTable('sandbox_event_counter')
      .addColumn('workspace_uuid', 'text', (column) => column.primaryKey())
      .addColumn('last_sequence', 'bigint', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createTable('sandbox_event')
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      // No reference: the events of a deleted sandbox stay.
      .addColumn('sandbox_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('at', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('sandbox_event_key', ['workspace_uuid', 'sequence'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_event_of_sandbox')
      .on('sandbox_event')
      .columns(['sandbox_id', 'sequence'])
      .execute();
    await kysely.schema.createIndex('sandbox_event_at').on('sandbox_event').column('at').execute();
  },
};
