import type { Migration } from '@svc/sql';

/** Limits that the operator set for one workspace or one owner, and the gate at which counts against them are exact. */
export const quotaOverrides: Migration = {
  name: '0080-quota-overrides',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('account_quota_override')
      // workspace or owner
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('quota', 'text', (column) => column.notNull())
      // Null means unlimited.
      .addColumn('amount', 'double precision')
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_quota_override_key', ['scope', 'subject', 'quota'])
      .execute();
    // One row for each workspace and owner that ever took something; a transaction that counts holds it to its end.
    await kysely.schema
      .createTable('quota_gate')
      .addColumn('subject', 'text', (column) => column.primaryKey())
      .addColumn('passes', 'bigint', (column) => column.notNull())
      .execute();
  },
};
