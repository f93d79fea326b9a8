import type { Migration } from '@svc/sql';

/**
 * A service account ends with the credential that made it: an API token, or another service account. Those that a sign-in
 * made, and those of before, stand by themselves.
 */
export const serviceAccountMakers: Migration = {
  name: '0093-service-account-makers',
  target: 'platform',
  async up(database) {
    for (const [name, maker] of [
      ['made_with_token_id', 'account_api_token.id'],
      ['made_with_account_id', 'account_service_account.id'],
    ] as const) {
      await database.schema
        .alterTable('account_service_account')
        .addColumn(name, 'text', (column) => column.references(maker).onDelete('cascade'))
        .execute();
      await database.schema
        .createIndex(`account_service_account_${name}`)
        .on('account_service_account')
        .column(name)
        .execute();
    }
  },
};
