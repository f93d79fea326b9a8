import type { Migration } from '@svc/sql';

/** Copies of the files of sandboxes, and which of them a sandbox was made from. */
export const sandboxSnapshots: Migration = {
  name: '0057-sandbox-snapshots',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_snapshot')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      // Where its bytes lie.
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('driver', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      // No reference: it outlives its sandbox.
      .addColumn('sandbox_id', 'text', (column) => column.notNull())
      .addColumn('image', 'text', (column) => column.notNull())
      .addColumn('disk_mb', 'integer', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      // making, ready, fork (of no one's list: it lives until those made from it have their files), removed
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_snapshot_workspace')
      .on('sandbox_snapshot')
      .columns(['workspace_uuid', 'created_at', 'id'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_snapshot_owner')
      .on('sandbox_snapshot')
      .columns(['owner_id', 'state'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_snapshot_node')
      .on('sandbox_snapshot')
      .columns(['node', 'state'])
      .execute();
    await kysely.schema.alterTable('sandbox').addColumn('snapshot_id', 'text').execute();
    await kysely.schema.createIndex('sandbox_of_snapshot').on('sandbox').column('snapshot_id').execute();
  },
};
