import type { Migration } from '@svc/sql';

/** The process that was connected before the last one, and when one came back that another had replaced: they are two. */
export const twoAgents: Migration = {
  name: '0073-two-agents',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('cluster').addColumn('previous_instance_id', 'text').execute();
    await kysely.schema.alterTable('cluster').addColumn('two_agents_at', 'text').execute();
  },
};
