import { sql } from 'kysely';
import type { Migration } from '@svc/sql';

/** Whose outbox the number in `outbox_sequence` counts: it outlives a restart of the agent, its instance does not. */
export const clusterOutbox: Migration = {
  name: '0068-cluster-outbox',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('cluster').addColumn('outbox_id', 'text').execute();
    await sql`update cluster set outbox_id = instance_id`.execute(kysely);
  },
};
