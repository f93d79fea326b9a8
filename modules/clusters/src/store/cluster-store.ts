import { breachDetails, type Limits } from '@svc/quotas';
import { publishEvents, violatesUnique } from '@svc/sql';
import { sql } from 'kysely';
import type { Cluster, ClusterStore, NewCluster } from '../domain/cluster.ts';
import { pageOf } from '@svc/runtime';
import type { PageRequest } from '../domain/paging.ts';
import { clusterErrors } from '../errors.ts';
import { clusterQuotas } from '../quotas.ts';
import { CLUSTER_CHANNELS } from './channels.ts';
import { toCluster } from './cluster-rows.ts';
import { breachByOne } from './quota-usage.ts';
import { CLUSTER_NAME, type ClusterDatabase } from './tables.ts';

export function createClusterStore(database: ClusterDatabase): ClusterStore {
  return {
    insert: (cluster, tokenHash, limits) => insertCluster(database, cluster, tokenHash, limits),
    list: (workspaceUuid, page) => listClusters(database, workspaceUuid, page),
    find: (workspaceUuid, nameOrId) => findCluster(database, workspaceUuid, nameOrId),
    findById: async (id) => {
      const row = await database.selectFrom('cluster').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? undefined : toCluster(row);
    },
    findByToken: async (tokenHash, now) => {
      const row = await database
        .selectFrom('cluster')
        .innerJoin('cluster_token', 'cluster_token.cluster_id', 'cluster.id')
        .selectAll('cluster')
        .where('cluster_token.hash', '=', tokenHash)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
        .executeTakeFirst();
      return row === undefined ? undefined : toCluster(row);
    },
    rotateToken: (clusterId, tokenHash, now, overlapUntil) =>
      rotateToken(database, clusterId, tokenHash, now, overlapUntil),
    expireTokens: async (now) => {
      const rows = await database
        .deleteFrom('cluster_token')
        .where('expires_at', '<=', now)
        .returning('hash')
        .execute();
      return rows.map((row) => row.hash);
    },
    validTokens: async (hashes, now) => {
      const rows = await database
        .selectFrom('cluster_token')
        .select('hash')
        .where('hash', 'in', hashes)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
        .execute();
      return new Set(rows.map((row) => row.hash));
    },
    remove: (clusterId) =>
      database.transaction().execute(async (transaction) => {
        await transaction.deleteFrom('cluster').where('id', '=', clusterId).execute();
        await publishEvents(transaction, CLUSTER_CHANNELS.access, [clusterId]);
      }),
    removeWorkspace: (workspaceUuid) =>
      database.transaction().execute(async (transaction) => {
        const rows = await transaction
          .deleteFrom('cluster')
          .where('workspace_uuid', '=', workspaceUuid)
          .returning('id')
          .execute();
        const ids = rows.map((row) => row.id);
        await publishEvents(transaction, CLUSTER_CHANNELS.access, ids);
        return ids;
      }),
    counts: async (workspaceUuid, now) => {
      const live = sql<number>`case when connected = 1 and lease_until > ${now} then 1 else 0 end`;
      const neverSeen = sql<number>`case when connected_at is null then 1 else 0 end`;
      const row = await database
        .selectFrom('cluster')
        .select((select) => [
          select.fn.countAll<number>().as('total'),
          select.fn.sum<number>(live).as('connected'),
          select.fn.sum<number>(neverSeen).as('pending'),
        ])
        .where('workspace_uuid', '=', workspaceUuid)
        .executeTakeFirstOrThrow();
      return { total: Number(row.total), connected: Number(row.connected ?? 0), pending: Number(row.pending ?? 0) };
    },
  };
}

async function insertCluster(
  database: ClusterDatabase,
  cluster: NewCluster,
  tokenHash: string,
  limits: Limits,
): Promise<void> {
  try {
    await database.transaction().execute(async (transaction) => {
      const breach = await breachByOne(transaction, limits, clusterQuotas.clusters);
      if (breach !== null) throw clusterErrors.TOO_MANY_CLUSTERS({ details: breachDetails(breach) });
      await transaction
        .insertInto('cluster')
        .values({
          id: cluster.id,
          workspace_uuid: cluster.workspaceUuid,
          name: cluster.name,
          created_at: cluster.createdAt,
          created_by: cluster.createdBy,
          connection_epoch: 0,
          connected: 0,
          event_sequence: 0,
          outbox_id: null,
          outbox_sequence: 0,
        })
        .execute();
      await transaction
        .insertInto('cluster_token')
        .values({ hash: tokenHash, cluster_id: cluster.id, created_at: cluster.createdAt, expires_at: null })
        .execute();
    });
  } catch (error) {
    if (!violatesUnique(error, CLUSTER_NAME)) throw error;
    throw clusterErrors.CLUSTER_NAME_TAKEN({
      details: { field: 'name', reason: 'is taken', name: cluster.name },
      cause: error,
    });
  }
}

async function listClusters(database: ClusterDatabase, workspaceUuid: string, page: PageRequest) {
  let query = database.selectFrom('cluster').selectAll().where('workspace_uuid', '=', workspaceUuid);
  const after = page.after?.[0];
  if (after !== undefined) query = query.where('name', '>', after);
  const rows = await query
    .orderBy('name')
    .limit(page.limit + 1)
    .execute();
  return pageOf(rows.map(toCluster), page.limit, (last) => [last.name]);
}

async function findCluster(
  database: ClusterDatabase,
  workspaceUuid: string,
  nameOrId: string,
): Promise<Cluster | undefined> {
  const rows = await database
    .selectFrom('cluster')
    .selectAll()
    .where('workspace_uuid', '=', workspaceUuid)
    .where((where) => where.or([where('id', '=', nameOrId), where('name', '=', nameOrId)]))
    .execute();
  const row = rows.find((candidate) => candidate.id === nameOrId) ?? rows[0];
  return row === undefined ? undefined : toCluster(row);
}

function rotateToken(
  database: ClusterDatabase,
  clusterId: string,
  tokenHash: string,
  now: string,
  overlapUntil: string | null,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const older = transaction.deleteFrom('cluster_token').where('cluster_id', '=', clusterId);
    if (overlapUntil === null) {
      await older.execute();
    } else {
      await older.where('expires_at', 'is not', null).execute(); // keeps at most one older token
      await transaction
        .updateTable('cluster_token')
        .set({ expires_at: overlapUntil })
        .where('cluster_id', '=', clusterId)
        .execute();
    }
    await transaction
      .insertInto('cluster_token')
      .values({ hash: tokenHash, cluster_id: clusterId, created_at: now, expires_at: null })
      .execute();
    await publishEvents(transaction, CLUSTER_CHANNELS.access, [clusterId]);
  });
}
