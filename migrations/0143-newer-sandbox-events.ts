import type { Migration } from '@svc/sql';

/**
 * The type of an event that earlier versions do not know. `type` then has one that they know, because they fail on any
 * other.
 */
export const newerSandboxEvents: Migration = {
  name: '0143-newer-sandbox-events',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('sandbox_event').addColumn('newer_type', 'text').execute();
  },
};
