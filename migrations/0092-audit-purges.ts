import type { Migration } from '@svc/sql';

/** What the retention of the audit log has removed stands with the sealed place where the log begins. */
export const auditPurges: Migration = {
  name: '0092-audit-purges',
  target: 'platform',
  async up(database) {
    await database.schema.alterTable('account_audit_end').addColumn('purged', 'text').execute();
  },
};
