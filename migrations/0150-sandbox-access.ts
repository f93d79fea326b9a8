import type { Migration } from '@svc/sql';

/**
 * Sandbox tokens: what a credential was granted in one sandbox, for clients that address the sandbox itself. The token
 * is derived from the id and is not stored.
 */
export const sandboxAccess: Migration = {
  name: '0150-sandbox-access',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('sandbox_access')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('sandbox_id', 'text', (column) => column.notNull().references('sandbox.id').onDelete('cascade'))
      // Identifies the credential and its role: one token for each in a sandbox.
      .addColumn('holder', 'text', (column) => column.notNull())
      // Credential, action and grant, as JSON.
      .addColumn('granted', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('sandbox_access_holder', ['sandbox_id', 'holder'])
      .execute();
  },
};
