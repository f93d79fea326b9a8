import { sql } from 'kysely';
import type { TelemetryRetention } from '../domain/telemetry.ts';
import { bucketOf } from './heartbeat-history.ts';
import type { ClusterDatabase } from './tables.ts';

export async function pruneTelemetry(database: ClusterDatabase, limits: TelemetryRetention): Promise<void> {
  await foldHeartbeats(database, `${bucketOf(limits.heartbeatsBefore)}0:00.000Z`);
  await database
    .deleteFrom('cluster_heartbeat_average')
    .where('bucket', '<', bucketOf(limits.averagesBefore))
    .execute();
  await database.deleteFrom('cluster_event').where('received_at', '<', limits.eventsBefore).execute();
  await deleteOldEvents(database, limits.eventsPerCluster);
}

/**
 * Keeps at most `kept` events per cluster, fewer if the sequence has gaps. Goes from each cluster's row to its oldest
 * events.
 */
async function deleteOldEvents(database: ClusterDatabase, kept: number): Promise<void> {
  await database
    .deleteFrom('cluster_event')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('cluster_id', 'sequence'),
        'in',
        selectFrom('cluster')
          .crossJoin('cluster_event as old') // SQLite keeps this order; an inner join would start from every event
          .whereRef('old.cluster_id', '=', 'cluster.id')
          .where('old.sequence', '<=', (columns) => columns('cluster.event_sequence', '-', kept))
          .select(['old.cluster_id', 'old.sequence'])
          .$asTuple('cluster_id', 'sequence'),
      ),
    )
    .execute();
}

/** Folds whole buckets only: a bucket is written once, in the commit that deletes its heartbeats. */
async function foldHeartbeats(database: ClusterDatabase, before: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const bucket = sql<string>`substr(received_at, 1, 15)`;
    // An expression instead of the column: grouping by the column would scan its whole index, not just the few old
    // rows.
    const clusterId = sql<string>`cluster_id || ''`;
    await transaction
      .insertInto('cluster_heartbeat_average')
      .columns(['cluster_id', 'bucket', 'samples', 'cpu_usage', 'memory_usage', 'active_pods'])
      .expression((expression) =>
        expression
          .selectFrom('cluster_heartbeat')
          .select((select) => [
            clusterId.as('cluster_id'),
            bucket.as('bucket'),
            select.fn.countAll<number>().as('samples'),
            select.fn.avg<number>('cpu_usage').as('cpu_usage'),
            select.fn.avg<number>('memory_usage').as('memory_usage'),
            select.fn.avg<number>('active_pods').as('active_pods'),
          ])
          .where('received_at', '<', before)
          .groupBy([clusterId, bucket]),
      )
      .onConflict((conflict) => conflict.columns(['cluster_id', 'bucket']).doNothing())
      .execute();
    await transaction.deleteFrom('cluster_heartbeat').where('received_at', '<', before).execute();
  });
}
