import type { Migration } from '@svc/sql';

/** Single-use links that set a password: at most one for each user, kept as a hash. */
export const passwordLinks: Migration = {
  name: '0091-password-links',
  target: 'platform',
  async up(database) {
    await database.schema
      .createTable('account_password_link')
      .addColumn('user_id', 'text', (column) => column.primaryKey().references('account_user.id').onDelete('cascade'))
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('account_password_link_expiry')
      .on('account_password_link')
      .column('expires_at')
      .execute();
  },
};
