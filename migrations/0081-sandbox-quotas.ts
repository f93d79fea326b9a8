import type { Migration } from '@svc/sql';
import { sql, type Kysely } from 'kysely';

/**
 * Whom a sandbox or snapshot counts for: its maker, or for a service account the owner of the workspace, since one user
 * can make many service accounts. Counts are taken from the rows themselves under the quota gate, so the counter of
 * 0020 goes. Open terminals have rows, so that every replica counts those of the others.
 */
export const sandboxQuotas: Migration = {
  name: '0081-sandbox-quotas',
  target: 'platform',
  up: async (kysely) => {
    await addAccountable(kysely, 'sandbox');
    await addAccountable(kysely, 'sandbox_snapshot');
    await kysely.schema.dropTable('sandbox_owner').execute();
    await kysely.schema
      .createTable('sandbox_terminal')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      // The replica that holds it; what a crash left behind goes when that replica starts again.
      .addColumn('node', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('sandbox_terminal_workspace')
      .on('sandbox_terminal')
      .column('workspace_uuid')
      .execute();
    await kysely.schema.createIndex('sandbox_terminal_node').on('sandbox_terminal').column('node').execute();
  },
};

async function addAccountable(kysely: Kysely<unknown>, table: 'sandbox' | 'sandbox_snapshot'): Promise<void> {
  await kysely.schema
    .alterTable(table)
    .addColumn('accountable_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await sql`
    update ${sql.table(table)} set accountable_id = coalesce(
      (select account_workspace.owner_id from account_service_account
        join account_workspace on account_workspace.uuid = account_service_account.workspace_uuid
        where account_service_account.id = ${sql.ref(`${table}.owner_id`)}),
      owner_id)
  `.execute(kysely);
  await kysely.schema.createIndex(`${table}_accountable`).on(table).column('accountable_id').execute();
}
