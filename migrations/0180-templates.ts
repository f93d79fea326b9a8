import type { Migration } from '@svc/sql';

/** Templates of workspaces: names and tags, builds with their logs, and the layers that builds made, which are their cache. */
export const templates: Migration = {
  name: '0180-templates',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('template')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addUniqueConstraint('template_workspace_name', ['workspace_uuid', 'name'])
      .execute();
    await kysely.schema
      .createTable('template_build')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('template_id', 'text', (column) => column.notNull().references('template.id').onDelete('cascade'))
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('tags', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('resources', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text')
      .addColumn('layer_id', 'text')
      .addColumn('digest', 'text')
      .addColumn('log_lines', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('started_at', 'text')
      .addColumn('finished_at', 'text')
      .execute();
    await kysely.schema
      .createIndex('template_build_template')
      .on('template_build')
      .columns(['template_id', 'created_at'])
      .execute();
    await kysely.schema.createIndex('template_build_node').on('template_build').columns(['node', 'status']).execute();
    await kysely.schema
      .createTable('template_tag')
      .addColumn('template_id', 'text', (column) => column.notNull().references('template.id').onDelete('cascade'))
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('build_id', 'text', (column) => column.notNull().references('template_build.id').onDelete('cascade'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('template_tag_key', ['template_id', 'tag'])
      .execute();
    await kysely.schema.createIndex('template_tag_build').on('template_tag').columns(['build_id']).execute();
    await kysely.schema
      .createTable('template_layer')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('cache_key', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('template_layer_cache')
      .on('template_layer')
      .columns(['workspace_uuid', 'node', 'cache_key'])
      .execute();
    await kysely.schema
      .createTable('template_log')
      .addColumn('build_id', 'text', (column) => column.notNull().references('template_build.id').onDelete('cascade'))
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('at', 'text', (column) => column.notNull())
      .addColumn('level', 'text', (column) => column.notNull())
      .addColumn('step', 'integer')
      .addColumn('message', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('template_log_key', ['build_id', 'sequence'])
      .execute();
    // JSON; null for sandboxes and snapshots that come from no template.
    await kysely.schema.alterTable('sandbox').addColumn('template', 'text').execute();
    await kysely.schema.alterTable('sandbox_snapshot').addColumn('template', 'text').execute();
  },
};
