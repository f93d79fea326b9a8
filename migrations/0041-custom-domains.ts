import type { Migration } from '@svc/sql';

/**
 * Host names that serve a bucket. What the checks found stands in `state`; beside it are the times that queries ask for:
 * when to look again, how long nobody else may claim the name, how long it is served. An operator's block is a row of its
 * own, so that neither removing nor registering a name again undoes it.
 */
export const customDomains: Migration = {
  name: '0041-custom-domains',
  target: 'objects',
  async up(database) {
    await database.schema
      .createTable('custom_domain')
      .addColumn('hostname', 'text', (column) => column.primaryKey())
      .addColumn('bucket_id', 'bigint', (column) => column.notNull())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull()) // JSON
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .addColumn('last_checked_at_ms', 'bigint')
      .addColumn('next_check_at_ms', 'bigint') // null: given up
      .addColumn('claim_until_ms', 'bigint') // null: as long as it is registered
      .addColumn('served_until_ms', 'bigint', (column) => column.notNull())
      .addColumn('lease_until_ms', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('custom_domain_bucket')
      .on('custom_domain')
      .columns(['bucket_id', 'hostname'])
      .execute();
    await database.schema
      .createIndex('custom_domain_workspace')
      .on('custom_domain')
      .columns(['workspace_uuid', 'hostname'])
      .execute();
    await database.schema
      .createIndex('custom_domain_due')
      .on('custom_domain')
      .columns(['next_check_at_ms', 'hostname'])
      .execute();
    await database.schema
      .createTable('custom_domain_block')
      .addColumn('hostname', 'text', (column) => column.primaryKey())
      .addColumn('blocked_at_ms', 'bigint', (column) => column.notNull())
      .execute();
  },
};
