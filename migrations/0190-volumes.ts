import type { Migration } from '@svc/sql';

/** Volumes of sandboxes, their snapshots, and which sandboxes mount them. */
export const volumes: Migration = {
  name: '0190-volumes',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_volume')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      // Where its bytes are.
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('driver', 'text', (column) => column.notNull())
      // volume, snapshot
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      // The name of a volume until it is removed; null for snapshots.
      .addColumn('taken_name', 'text')
      .addColumn('size_mb', 'integer', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      // The snapshot that a volume was created from, or the volume of a snapshot. No reference: it may be removed first.
      .addColumn('source_id', 'text')
      // making, ready, resizing, removed
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('sandbox_volume_name', ['workspace_uuid', 'taken_name'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_volume_workspace')
      .on('sandbox_volume')
      .columns(['workspace_uuid', 'kind', 'created_at', 'id'])
      .execute();
    await kysely.schema.createIndex('sandbox_volume_node').on('sandbox_volume').columns(['node', 'state']).execute();
    await kysely.schema
      .createTable('sandbox_volume_mount')
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('volume_id', 'text', (column) => column.notNull())
      .addColumn('read_only', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('sandbox_volume_mount_key', ['sandbox_id', 'volume_id'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_volume_mount_volume')
      .on('sandbox_volume_mount')
      .column('volume_id')
      .execute();
    // JSON; null without volumes.
    await kysely.schema.alterTable('sandbox').addColumn('volumes', 'text').execute();
  },
};
