import type { Migration } from '@svc/sql';

/** How many GPUs a sandbox has. */
export const sandboxGpus: Migration = {
  name: '0266-sandbox-gpus',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .alterTable('sandbox')
      .addColumn('gpus', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
