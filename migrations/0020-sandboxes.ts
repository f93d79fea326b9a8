import type { Migration } from '@svc/sql';

/** Sandboxes with their labels, how many each caller has, and what makes repeated creates and terminal tickets safe. */
export const sandboxes: Migration = {
  name: '0020-sandboxes',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      // The replica or host that runs it; others leave it alone.
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('driver', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      // The name while it is taken; null from the moment of removal, which frees it at once.
      .addColumn('taken_name', 'text')
      .addColumn('image', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('state_reason', 'text')
      .addColumn('error_code', 'text')
      .addColumn('error_message', 'text')
      .addColumn('error_recoverable', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('environment', 'text', (column) => column.notNull())
      .addColumn('labels', 'text', (column) => column.notNull())
      .addColumn('cpu_millis', 'integer', (column) => column.notNull())
      .addColumn('memory_mb', 'integer', (column) => column.notNull())
      .addColumn('disk_mb', 'integer', (column) => column.notNull())
      .addColumn('pids', 'integer', (column) => column.notNull())
      .addColumn('network', 'text', (column) => column.notNull())
      .addColumn('isolation', 'text', (column) => column.notNull())
      .addColumn('idle_timeout_seconds', 'integer')
      .addColumn('expires_at', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('started_at', 'text')
      .addColumn('last_activity_at', 'text', (column) => column.notNull())
      // Set when it was deleted; the row goes when nothing of it is left on the machine.
      .addColumn('removed_at', 'text')
      .addUniqueConstraint('sandbox_workspace_name', ['workspace_uuid', 'taken_name'])
      .execute();
    await kysely.schema
      .createIndex('sandbox_workspace_created')
      .on('sandbox')
      .columns(['workspace_uuid', 'created_at', 'id'])
      .execute();
    await kysely.schema.createIndex('sandbox_node_status').on('sandbox').columns(['node', 'status']).execute();

    await kysely.schema
      .createTable('sandbox_label')
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('sandbox_label_key', ['sandbox_id', 'key'])
      .execute();

    // Counted in the transaction that makes or removes a sandbox: two creates at once cannot both take the last place.
    await kysely.schema
      .createTable('sandbox_owner')
      .addColumn('owner_id', 'text', (column) => column.primaryKey())
      .addColumn('sandboxes', 'integer', (column) => column.notNull())
      .execute();

    await kysely.schema
      .createTable('sandbox_idempotency')
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('request_hash', 'text', (column) => column.notNull())
      .addColumn('sandbox_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('sandbox_idempotency_key', ['workspace_uuid', 'owner_id', 'key'])
      .execute();

    await kysely.schema
      .createTable('sandbox_ticket')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
  },
};
