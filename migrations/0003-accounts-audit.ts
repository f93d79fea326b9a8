import type { Migration } from '@svc/sql';

/**
 * The audit log. It has no reference to users or workspaces on purpose: what happened stays readable after they are
 * gone. Rows are only ever added; those older than the retention go in whole.
 */
export const accountsAudit: Migration = {
  name: '0003-accounts-audit',
  target: 'platform',
  up: async (kysely, dialect) => {
    await kysely.schema
      .createTable('account_audit')
      .addColumn('sequence', dialect === 'sqlite' ? 'integer' : 'bigserial', (column) =>
        dialect === 'sqlite' ? column.primaryKey().autoIncrement() : column.primaryKey(),
      )
      .addColumn('occurred_at', 'text', (column) => column.notNull())
      .addColumn('actor_kind', 'text', (column) => column.notNull())
      .addColumn('actor_id', 'text')
      .addColumn('actor_name', 'text')
      .addColumn('credential', 'text')
      .addColumn('credential_id', 'text')
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('resource', 'text', (column) => column.notNull())
      .addColumn('workspace_uuid', 'text')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('remote_address', 'text', (column) => column.notNull())
      .addColumn('request_id', 'text', (column) => column.notNull())
      .addColumn('details', 'text', (column) => column.notNull())
      .execute();
    for (const column of ['workspace_uuid', 'actor_id', 'actor_name', 'action', 'resource']) {
      await kysely.schema
        .createIndex(`account_audit_${column}`)
        .on('account_audit')
        .columns([column, 'sequence'])
        .execute();
    }
    await kysely.schema.createIndex('account_audit_time').on('account_audit').column('occurred_at').execute();
  },
};
