import type { HeartbeatPoint } from '../domain/telemetry.ts';
import type { ClusterDatabase } from './tables.ts';

export async function readHeartbeats(
  database: ClusterDatabase,
  clusterId: string,
  since: string,
  limit: number,
): Promise<HeartbeatPoint[]> {
  const single = await database
    .selectFrom('cluster_heartbeat')
    .selectAll()
    .where('cluster_id', '=', clusterId)
    .where('received_at', '>=', since)
    .orderBy('received_at', 'desc')
    .limit(limit)
    .execute();
  const points: HeartbeatPoint[] = single.map((row) => ({
    at: row.received_at,
    status: row.status,
    cpuUsage: row.cpu_usage,
    memoryUsage: row.memory_usage,
    activePods: row.active_pods,
    samples: 1,
  }));
  if (points.length < limit) {
    const averages = await database
      .selectFrom('cluster_heartbeat_average')
      .selectAll()
      .where('cluster_id', '=', clusterId)
      .where('bucket', '>=', bucketOf(since))
      .orderBy('bucket', 'desc')
      .limit(limit - points.length)
      .execute();
    for (const row of averages) {
      points.push({
        at: `${row.bucket}0:00.000Z`,
        status: null,
        cpuUsage: row.cpu_usage,
        memoryUsage: row.memory_usage,
        activePods: row.active_pods,
        samples: row.samples,
      });
    }
  }
  return points.reverse();
}

/** `2026-11-21T10:37:42.000Z` -> `2026-11-21T10:3`: ten minutes. */
export function bucketOf(timestamp: string): string {
  return timestamp.slice(0, 15);
}
