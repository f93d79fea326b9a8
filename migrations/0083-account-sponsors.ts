import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/** Who answers for an account that an invitation made. Accounts of before answer for themselves. */
export const accountSponsors: Migration = {
  name: '0083-account-sponsors',
  target: 'platform',
  async up(database) {
    await database.schema.alterTable('account_user').addColumn('sponsor_id', 'text').execute();
    await database.schema
      .createIndex('account_user_sponsor')
      .on('account_user')
      .column('sponsor_id')
      .where(sql.ref('sponsor_id'), 'is not', null)
      .execute();
  },
};
