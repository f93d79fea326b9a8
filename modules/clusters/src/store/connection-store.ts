import type { ConnectionStore, Introduction } from '../domain/cluster.ts';
import type { ClusterDatabase, ClusterRow } from './tables.ts';

export function createConnectionStore(database: ClusterDatabase): ConnectionStore {
  return {
    open: async (clusterId, replicaId, at, leaseUntil) => {
      const row = await database
        .updateTable('cluster')
        .set((columns) => ({
          connection_epoch: columns('connection_epoch', '+', 1),
          connected: 1,
          replica_id: replicaId,
          lease_until: leaseUntil,
          connected_at: at,
          last_seen_at: at,
        }))
        .where('id', '=', clusterId)
        .returning('connection_epoch')
        .executeTakeFirstOrThrow();
      return row.connection_epoch;
    },
    introduce: (clusterId, epoch, introduction) => introduce(database, clusterId, epoch, introduction),
    close: async (clusterId, epoch, at) => {
      await database
        .updateTable('cluster')
        .set({ connected: 0, lease_until: null, replica_id: null, disconnected_at: at })
        .where('id', '=', clusterId)
        .where('connection_epoch', '=', epoch)
        .execute();
    },
    renewLeases: async (replicaId, leaseUntil) => {
      const rows = await database
        .updateTable('cluster')
        .set({ lease_until: leaseUntil })
        .where('replica_id', '=', replicaId)
        .where('connected', '=', 1)
        .returning(['id', 'connection_epoch'])
        .execute();
      return new Map(rows.map((row) => [row.id, row.connection_epoch]));
    },
    holder: async (clusterId, now) => {
      const row = await database
        .selectFrom('cluster')
        .select('replica_id')
        .where('id', '=', clusterId)
        .where('connected', '=', 1)
        .where('lease_until', '>', now)
        .executeTakeFirst();
      return row?.replica_id ?? null;
    },
    forget: async (replicaId, at) => {
      await database
        .updateTable('cluster')
        .set({ connected: 0, lease_until: null, replica_id: null, disconnected_at: at })
        .where('replica_id', '=', replicaId)
        .execute();
    },
  };
}

function introduce(database: ClusterDatabase, clusterId: string, epoch: number, introduction: Introduction) {
  return database.transaction().execute(async (transaction) => {
    const before = await transaction
      .selectFrom('cluster')
      .select(['outbox_id', 'outbox_sequence', 'connection_epoch'])
      .select(['instance_id', 'previous_instance_id', 'connected_at'])
      .where('id', '=', clusterId)
      .executeTakeFirst();
    const resumed =
      before !== undefined && introduction.outboxId !== null && before.outbox_id === introduction.outboxId;
    const lastReceivedSequence = resumed ? before.outbox_sequence : 0;
    if (before?.connection_epoch === epoch) {
      await transaction
        .updateTable('cluster')
        .set({
          protocol: introduction.protocol,
          instance_id: introduction.instanceId,
          outbox_id: introduction.outboxId,
          outbox_sequence: lastReceivedSequence,
          agent_version: introduction.agentVersion,
          capabilities: JSON.stringify(introduction.capabilities),
          ...changeOfInstance(before, introduction.instanceId),
          ...(introduction.kubernetesVersion === null ? {} : { kubernetes_version: introduction.kubernetesVersion }),
        })
        .where('id', '=', clusterId)
        .where('connection_epoch', '=', epoch)
        .execute();
    }
    return { resumed, lastReceivedSequence };
  });
}

type Instances = Pick<ClusterRow, 'instance_id' | 'previous_instance_id' | 'connected_at'>;

/** An ended process never returns: an instance that reconnects after another one shares its token. */
function changeOfInstance(
  { instance_id: last, previous_instance_id: previous, connected_at: at }: Instances,
  instanceId: string | null,
): Partial<ClusterRow> {
  if (last === null || instanceId === null || instanceId === last) return {};
  return { previous_instance_id: last, ...(instanceId === previous ? { two_agents_at: at } : {}) };
}
