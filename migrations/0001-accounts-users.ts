import type { Migration } from '@svc/sql';

/** Users and what they prove themselves with. Every secret stands here only as a hash. */
export const accountsUsers: Migration = {
  name: '0001-accounts-users',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('account_user')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      // Null for guests, which are never bound to an e-mail. Stored in lower case.
      .addColumn('email', 'text', (column) => column.unique())
      .addColumn('name', 'text', (column) => column.notNull())
      // PHC string with its own parameters; null for guests and for users who come by an external issuer.
      .addColumn('password_hash', 'text')
      .addColumn('operator_since', 'text')
      // Signed tokens that were issued before this instant are refused: signing out everywhere moves it.
      .addColumn('tokens_valid_from', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .execute();
    await kysely.schema.createIndex('account_user_expiry').on('account_user').columns(['kind', 'expires_at']).execute();

    await kysely.schema
      .createTable('account_identity')
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_identity_key', ['issuer', 'subject'])
      // One subject per user and issuer: an e-mail that the issuer gives to somebody else opens nothing.
      .addUniqueConstraint('account_identity_user', ['issuer', 'user_id'])
      .execute();

    await kysely.schema
      .createTable('account_session')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('remote_address', 'text', (column) => column.notNull())
      .addColumn('user_agent', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_seen_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('account_session_user')
      .on('account_session')
      .columns(['user_id', 'created_at'])
      .execute();
    await kysely.schema.createIndex('account_session_expiry').on('account_session').column('expires_at').execute();

    await kysely.schema
      .createTable('account_device')
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('last_seen_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('account_device_user')
      .on('account_device')
      .columns(['user_id', 'last_seen_at'])
      .execute();

    await kysely.schema
      .createTable('account_api_token')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      // Set on the token that the platform makes for its owner at each start, so that the next start finds it.
      .addColumn('purpose', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('last_used_at', 'text')
      .execute();
    await kysely.schema
      .createIndex('account_api_token_user')
      .on('account_api_token')
      .columns(['user_id', 'created_at', 'id'])
      .execute();
  },
};
