import type { Migration } from '@svc/sql';

/** Whose memory a command was sent to: a process with the same one knows whether the command ever began. */
export const sentOutbox: Migration = {
  name: '0069-sent-outbox',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.alterTable('cluster_command').addColumn('sent_outbox_id', 'text').execute();
  },
};
