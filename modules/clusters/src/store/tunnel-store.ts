import type { GrantedAccess } from '@svc/access';
import type { TunnelStore } from '../domain/tunnel.ts';
import type { ClusterDatabase } from './tables.ts';

export function createTunnelStore(database: ClusterDatabase): TunnelStore {
  return {
    open: async (clusterId, replicaId, at, leaseUntil) => {
      const row = await database
        .insertInto('cluster_tunnel')
        .values({ cluster_id: clusterId, epoch: 1, replica_id: replicaId, lease_until: leaseUntil, connected_at: at })
        .onConflict((conflict) =>
          conflict.column('cluster_id').doUpdateSet((columns) => ({
            epoch: columns('cluster_tunnel.epoch', '+', 1),
            replica_id: replicaId,
            lease_until: leaseUntil,
            connected_at: at,
          })),
        )
        .returning('epoch')
        .executeTakeFirstOrThrow();
      return row.epoch;
    },
    close: async (clusterId, epoch) => {
      await database
        .updateTable('cluster_tunnel')
        .set({ replica_id: null, lease_until: null })
        .where('cluster_id', '=', clusterId)
        .where('epoch', '=', epoch)
        .execute();
    },
    holder: async (clusterId, now) => {
      const row = await database
        .selectFrom('cluster_tunnel')
        .select('replica_id')
        .where('cluster_id', '=', clusterId)
        .where('lease_until', '>', now)
        .executeTakeFirst();
      return row?.replica_id ?? null;
    },
    renew: async (replicaId, leaseUntil) => {
      const rows = await database
        .updateTable('cluster_tunnel')
        .set({ lease_until: leaseUntil })
        .where('replica_id', '=', replicaId)
        .returning(['cluster_id', 'epoch'])
        .execute();
      return new Map(rows.map((row) => [row.cluster_id, row.epoch]));
    },
    forget: async (replicaId) => {
      await database
        .updateTable('cluster_tunnel')
        .set({ replica_id: null, lease_until: null })
        .where('replica_id', '=', replicaId)
        .execute();
    },
    ...linkStore(database),
  };
}

function linkStore(database: ClusterDatabase): Pick<TunnelStore, 'addLink' | 'findLink' | 'pruneLinks'> {
  return {
    addLink: async (hash, link, createdAt) => {
      await database
        .insertInto('cluster_tunnel_link')
        .values({
          hash,
          cluster_id: link.clusterId,
          service: link.service,
          granted: JSON.stringify(link.granted),
          created_at: createdAt,
          expires_at: link.expiresAt,
        })
        .execute();
    },
    findLink: async (hash, now) => {
      const row = await database
        .selectFrom('cluster_tunnel_link')
        .selectAll()
        .where('hash', '=', hash)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return {
        clusterId: row.cluster_id,
        service: row.service,
        granted: JSON.parse(row.granted) as GrantedAccess, // written by addLink
        expiresAt: row.expires_at,
      };
    },
    pruneLinks: async (now) => {
      await database.deleteFrom('cluster_tunnel_link').where('expires_at', '<=', now).execute();
    },
  };
}
