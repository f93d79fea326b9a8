import type { Migration } from '@svc/sql';

/**
 * Tunnel links keep the credential that made them and what it was granted, so that they end with it. Earlier ones kept
 * their maker alone and would outlive the credential: they are dropped, and their owners make new ones.
 */
export const tunnelLinkRights: Migration = {
  name: '0088-tunnel-link-rights',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema.dropTable('cluster_tunnel_link').execute();
    await kysely.schema
      .createTable('cluster_tunnel_link')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('service', 'text', (column) => column.notNull())
      // Credential, action and grant, as JSON.
      .addColumn('granted', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('cluster_tunnel_link_cluster')
      .on('cluster_tunnel_link')
      .column('cluster_id')
      .execute();
    await kysely.schema.createIndex('cluster_tunnel_link_end').on('cluster_tunnel_link').column('expires_at').execute();
  },
};
