import type { Migration } from '@svc/sql';

/** What is wrong with an agent that works all the same: rights that it lacks (JSON), and a clock that differs from ours. */
export const clusterWarnings: Migration = {
  name: '0070-cluster-warnings',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('cluster').addColumn('limitations', 'text').execute();
    await kysely.schema.alterTable('cluster').addColumn('clock_skew_seconds', 'integer').execute();
  },
};
