import type { Migration } from '@svc/sql';

/** Commands to agents, what they said on the way, deployments on top of them, and the keys that make retries safe. */
export const clustersCommands: Migration = {
  name: '0031-cluster-commands',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('cluster_command')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('timeout_ms', 'integer', (column) => column.notNull())
      .addColumn('sent_at', 'text')
      .addColumn('sent_instance_id', 'text')
      .addColumn('sent_count', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('acknowledged_at', 'text')
      .addColumn('cancel_requested_at', 'text')
      .addColumn('deadline_at', 'text', (column) => column.notNull())
      .addColumn('finished_at', 'text')
      .addColumn('result', 'text')
      .addColumn('error', 'text')
      .addColumn('output_bytes', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('note_sequence', 'integer', (column) => column.notNull().defaultTo(0))
      // Newest numbers that the agent gave to its own progress and output; what comes again is not kept twice.
      .addColumn('progress_sequence', 'bigint', (column) => column.notNull().defaultTo(-1))
      .addColumn('output_sequence', 'bigint', (column) => column.notNull().defaultTo(-1))
      .execute();
    await kysely.schema
      .createIndex('cluster_command_open')
      .on('cluster_command')
      .columns(['cluster_id', 'state', 'created_at'])
      .execute();
    await kysely.schema
      .createIndex('cluster_command_deadline')
      .on('cluster_command')
      .columns(['state', 'deadline_at'])
      .execute();

    await kysely.schema
      .createTable('cluster_command_note')
      .addColumn('command_id', 'text', (column) =>
        column.notNull().references('cluster_command.id').onDelete('cascade'),
      )
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('cluster_command_note_key', ['command_id', 'sequence'])
      .execute();

    await kysely.schema
      .createTable('cluster_deployment')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('command_id', 'text', (column) =>
        column.notNull().references('cluster_command.id').onDelete('cascade'),
      )
      .addColumn('project_id', 'text', (column) => column.notNull())
      .addColumn('namespace', 'text', (column) => column.notNull())
      .addColumn('manifest_sha256', 'text', (column) => column.notNull())
      .addColumn('dry_run', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('cluster_deployment_newest')
      .on('cluster_deployment')
      .columns(['cluster_id', 'created_at', 'id'])
      .execute();
    await kysely.schema
      .createIndex('cluster_deployment_command')
      .on('cluster_deployment')
      .column('command_id')
      .execute();

    await kysely.schema
      .createTable('cluster_idempotency')
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('request_sha256', 'text', (column) => column.notNull())
      .addColumn('command_id', 'text', (column) =>
        column.notNull().references('cluster_command.id').onDelete('cascade'),
      )
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('cluster_idempotency_key', ['cluster_id', 'key'])
      .execute();
  },
};
