import type { Migration } from '@svc/sql';

/** Webhooks for events of sandboxes, and what became of each delivery. Secrets are sealed like those of workspaces. */
export const sandboxWebhooks: Migration = {
  name: '0250-sandbox-webhooks',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_webhook')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('events', 'text') // JSON; null for all types
      .addColumn('enabled', 'integer', (column) => column.notNull())
      .addColumn('disabled_reason', 'text')
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('box', 'text', (column) => column.notNull())
      .addColumn('creator_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addColumn('position', 'bigint', (column) => column.notNull()) // every event up to this one is settled
      .addColumn('failing_since_ms', 'bigint')
      .addColumn('last_error', 'text')
      .addColumn('missed', 'bigint', (column) => column.notNull())
      .addColumn('lease_holder', 'text') // the process that delivers
      .addColumn('lease_until_ms', 'bigint', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_webhook_workspace')
      .on('sandbox_webhook')
      .columns(['workspace_uuid', 'created_at'])
      .execute();
    await kysely.schema
      .createTable('sandbox_webhook_delivery')
      .addColumn('webhook_id', 'text', (column) =>
        column.notNull().references('sandbox_webhook.id').onDelete('cascade'),
      )
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('sandbox_id', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull()) // delivered, retrying or dropped
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('next_attempt_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('attempted_at', 'text', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', 'text')
      .addPrimaryKeyConstraint('sandbox_webhook_delivery_pk', ['webhook_id', 'sequence'])
      .execute();
  },
};
