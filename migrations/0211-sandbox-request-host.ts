import type { Migration } from '@svc/sql';

/** The host that programs behind the ports of a sandbox see in requests, instead of the one that clients ask for. */
export const sandboxRequestHost: Migration = {
  name: '0211-sandbox-request-host',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox').addColumn('request_host', 'text').execute();
  },
};
