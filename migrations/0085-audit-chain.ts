import type { Migration } from '@svc/sql';

/**
 * The audit log as a chain: each row carries an HMAC over itself and that of the row before. The two ends are rows of
 * their own, sealed likewise, so that removing rows at either end shows; the key is wrapped by the master key.
 */
export const auditChain: Migration = {
  name: '0085-audit-chain',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('account_audit').addColumn('mac', 'text').execute();
    await kysely.schema
      .createTable('account_audit_end')
      .addColumn('name', 'text', (column) => column.primaryKey()) // `head` or `checkpoint`
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('mac', 'text', (column) => column.notNull())
      .addColumn('seal', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createTable('account_audit_key')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('wrapper', 'text', (column) => column.notNull())
      .addColumn('wrapped', 'text', (column) => column.notNull())
      .execute();
  },
};
