import type { Migration } from '@svc/sql';

/** Which replica holds the tunnel of a cluster's agent, and the links that let a browser use a service behind it. */
export const clusterTunnels: Migration = {
  name: '0067-cluster-tunnels',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('cluster_tunnel')
      .addColumn('cluster_id', 'text', (column) => column.primaryKey().references('cluster.id').onDelete('cascade'))
      // Counts the tunnels of the cluster; whoever ends later than a newer one began clears nothing.
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('replica_id', 'text')
      .addColumn('lease_until', 'text')
      .addColumn('connected_at', 'text', (column) => column.notNull())
      .execute();

    await kysely.schema
      .createTable('cluster_tunnel_link')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('cluster_id', 'text', (column) => column.notNull().references('cluster.id').onDelete('cascade'))
      .addColumn('service', 'text', (column) => column.notNull())
      // Who made it, as JSON: every use asks again whether he still may.
      .addColumn('principal', 'text', (column) => column.notNull())
      .addColumn('team_uuid', 'text')
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
