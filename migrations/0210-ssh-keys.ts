import type { Migration } from '@svc/sql';

/** Public keys that users log in with over SSH. A key identifies its user, so it belongs to one only. */
export const sshKeys: Migration = {
  name: '0210-ssh-keys',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('account_ssh_key')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('fingerprint', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text')
      .execute();
    await kysely.schema
      .createIndex('account_ssh_key_by_user')
      .on('account_ssh_key')
      .columns(['user_id', 'created_at', 'id'])
      .execute();
  },
};
