import type { Migration } from '@svc/sql';

/** The host name of each replica, for operators; null until a version that states it has started. */
export const replicaHost: Migration = {
  name: '0142-replica-host',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('replica').addColumn('host', 'text').execute();
  },
};
