import type { Migration } from '@svc/sql';
import { sql } from 'kysely';

/** When the user last proved who they are in a session. A sign-in is such a proof, so old sessions count from their start. */
export const sessionConfirmation: Migration = {
  name: '0090-session-confirmation',
  target: 'platform',
  async up(database) {
    await database.schema
      .alterTable('account_session')
      .addColumn('confirmed_at', 'text', (column) => column.notNull().defaultTo('1970-01-01T00:00:00.000Z'))
      .execute();
    await sql`update account_session set confirmed_at = created_at`.execute(database);
  },
};
