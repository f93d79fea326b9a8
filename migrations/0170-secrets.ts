import type { Migration } from '@svc/sql';

/**
 * Secrets of workspaces, and the rules that add them to requests of sandboxes. Values and keys are sealed: the wrapper
 * names the master key that opens the box.
 */
export const secrets: Migration = {
  name: '0170-secrets',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('workspace_secret')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('box', 'text', (column) => column.notNull())
      .addColumn('creator_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('workspace_secret_name', ['workspace_uuid', 'name'])
      .execute();
    // JSON; null without rules.
    await kysely.schema.alterTable('sandbox').addColumn('egress_rules', 'text').execute();
    await kysely.schema.alterTable('sandbox_snapshot').addColumn('egress_rules', 'text').execute();
    // The certificate authority of a sandbox that has or had rules.
    await kysely.schema
      .createTable('sandbox_authority')
      .addColumn('sandbox_id', 'text', (column) => column.primaryKey().references('sandbox.id').onDelete('cascade'))
      .addColumn('certificate', 'text', (column) => column.notNull())
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('box', 'text', (column) => column.notNull())
      .execute();
  },
};
