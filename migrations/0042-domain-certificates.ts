import type { Migration } from '@svc/sql';

/** Certificates of custom domains and what getting them needs (RFC 8555). Private keys are sealed under the master key. */
export const domainCertificates: Migration = {
  name: '0042-domain-certificates',
  target: 'objects',
  async up(database) {
    await database.schema
      .createTable('domain_certificate')
      .addColumn('hostname', 'text', (column) => column.primaryKey())
      .addColumn('chain', 'text', (column) => column.notNull()) // PEM, the host's own first
      .addColumn('sealed_key', 'text', (column) => column.notNull())
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('not_before_ms', 'bigint', (column) => column.notNull())
      .addColumn('not_after_ms', 'bigint', (column) => column.notNull())
      .addColumn('issued_at_ms', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createTable('acme_account')
      .addColumn('directory_url', 'text', (column) => column.primaryKey())
      .addColumn('sealed_key', 'text', (column) => column.notNull())
      .execute();
    // Any replica may be the one that the authority asks.
    await database.schema
      .createTable('acme_challenge')
      .addColumn('token', 'text', (column) => column.primaryKey())
      .addColumn('key_authorization', 'text', (column) => column.notNull())
      .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
      .execute();
  },
};
