import type { Migration } from '@svc/sql';

/** From which address and network a guest signed in, so that each has a share of the guests. Null for persons. */
export const guestAddresses: Migration = {
  name: '0290-guest-addresses',
  target: 'platform',
  async up(database) {
    for (const name of ['guest_address', 'guest_network']) {
      await database.schema.alterTable('account_user').addColumn(name, 'text').execute();
    }
  },
};
