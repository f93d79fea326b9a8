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

/** Numbers without gaps are not promised, so this keeps at most so many. From each cluster's row to its oldest events. */
async function deleteOldEvents(database: ClusterDatabase, kept: number): Promise<void> {
  await database
    .deleteFrom('cluster_event')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('cluster_id', 'sequence'),
        'in',
        selectFrom('cluster')
          .crossJoin('cluster_event as old') // SQLite keeps this order, and would begin with every event in an inner one
          .whereRef('old.cluster_id', '=', 'cluster.id')
          .where('old.sequence', '<=', (columns) => columns('cluster.event_sequence', '-', kept))
          .select(['old.cluster_id', 'old.sequence'])
          .$asTuple('cluster_id', 'sequence'),
      ),
    )
    .execute();
}

/** Whole buckets only: a bucket is written once and its heartbeats are gone with the same commit. */
async function foldHeartbeats(database: ClusterDatabase, before: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const bucket = sql<string>`substr(received_at, 1, 15)`;
    // Not the column itself: its index would be read from end to end for the groups, and not the few that are old.
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
