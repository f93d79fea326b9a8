import { publishEvents } from '@svc/sql';
import type { Transaction } from 'kysely';
import type { Report } from '../domain/telemetry.ts';
import { CLUSTER_CHANNELS } from './channels.ts';
import type { ClusterDatabase, ClusterTables } from './tables.ts';

/** One commit for the reports of many agents: a disk with 200 syncs per second still takes thousands of heartbeats. */
export async function writeReports(database: ClusterDatabase, reports: readonly Report[]): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    for (const report of reports) {
      switch (report.kind) {
        case 'heartbeat':
          await writeHeartbeat(transaction, report);
          break;
        case 'status':
          await writeStatus(transaction, report);
          break;
        case 'event':
          await writeEvent(transaction, report);
          break;
      }
    }
    const withEvents = reports.flatMap((report) => (report.kind === 'event' ? [report.clusterId] : []));
    await publishEvents(transaction, CLUSTER_CHANNELS.events, [...new Set(withEvents)]);
  });
}

type Of<Kind extends Report['kind']> = Extract<Report, { kind: Kind }>;

async function writeHeartbeat(
  transaction: Transaction<ClusterTables>,
  { clusterId, at, reading, clockSkewSeconds }: Of<'heartbeat'>,
): Promise<void> {
  const numbers = { cpu_usage: reading.cpuUsage, memory_usage: reading.memoryUsage, active_pods: reading.activePods };
  const { numUpdatedRows } = await transaction
    .updateTable('cluster')
    .set({ last_seen_at: at, heartbeat_status: reading.status, clock_skew_seconds: clockSkewSeconds, ...numbers })
    .where('id', '=', clusterId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  await transaction
    .insertInto('cluster_heartbeat')
    .values({ cluster_id: clusterId, received_at: at, status: reading.status, ...numbers })
    .onConflict((conflict) => conflict.columns(['cluster_id', 'received_at']).doNothing())
    .execute();
}

async function writeStatus(
  transaction: Transaction<ClusterTables>,
  { clusterId, reportedStatus, kubernetesVersion }: Of<'status'>,
): Promise<void> {
  await transaction
    .updateTable('cluster')
    .set({
      health: reportedStatus.health,
      nodes: reportedStatus.nodes,
      pods: reportedStatus.pods,
      services: reportedStatus.services,
      limitations: reportedStatus.limitations.length === 0 ? null : JSON.stringify(reportedStatus.limitations),
      status_at: reportedStatus.at,
      last_seen_at: reportedStatus.at,
      ...(kubernetesVersion === null ? {} : { kubernetes_version: kubernetesVersion }),
    })
    .where('id', '=', clusterId)
    .execute();
}

/** Takes the sequence from the cluster's row: its lock makes the sequence order the commit order. */
async function writeEvent(
  transaction: Transaction<ClusterTables>,
  { clusterId, messageId, outbox, event }: Of<'event'>,
): Promise<void> {
  const cluster = await transaction
    .updateTable('cluster')
    .set((columns) => ({ event_sequence: columns('event_sequence', '+', 1) }))
    .where('id', '=', clusterId)
    .returning(['event_sequence', 'outbox_id', 'outbox_sequence'])
    .executeTakeFirst();
  if (cluster === undefined) return;
  const current = outbox !== null && outbox.id === cluster.outbox_id;
  if (current && outbox.sequence <= cluster.outbox_sequence) return;
  await transaction
    .insertInto('cluster_event')
    .values({
      cluster_id: clusterId,
      sequence: cluster.event_sequence,
      message_id: messageId,
      event_type: event.eventType,
      namespace: event.namespace,
      resource: event.resource,
      details: JSON.stringify(event.details),
      occurred_at: event.occurredAt,
      received_at: event.receivedAt,
    })
    .onConflict((conflict) => conflict.columns(['cluster_id', 'message_id']).doNothing())
    .execute();
  if (!current) return;
  await transaction
    .updateTable('cluster')
    .set({ outbox_sequence: outbox.sequence })
    .where('id', '=', clusterId)
    .execute();
}
