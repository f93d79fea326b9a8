import type { ClusterEvent, EventFilter, TelemetryStore } from '../domain/telemetry.ts';
import { pageOf } from '@svc/runtime';
import type { PageRequest } from '../domain/paging.ts';
import { readHeartbeats } from './heartbeat-history.ts';
import { writeReports } from './report-writer.ts';
import { pruneTelemetry } from './telemetry-prune.ts';
import type { ClusterDatabase, ClusterTables } from './tables.ts';

export function createTelemetryStore(database: ClusterDatabase): TelemetryStore {
  return {
    write: (reports) => writeReports(database, reports),
    events: (clusterId, filter, page) => listEvents(database, clusterId, filter, page),
    eventsAfter: async (clusterId, filter, sequence, limit) => {
      const rows = await selectEvents(database, clusterId, filter)
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute();
      return rows.map(toEvent);
    },
    newestEventSequence: async (clusterId) => {
      const row = await database
        .selectFrom('cluster')
        .select('event_sequence')
        .where('id', '=', clusterId)
        .executeTakeFirst();
      return row?.event_sequence ?? 0;
    },
    heartbeats: (clusterId, since, limit) => readHeartbeats(database, clusterId, since, limit),
    prune: (limits) => pruneTelemetry(database, limits),
  };
}

function selectEvents(database: ClusterDatabase, clusterId: string, filter: EventFilter) {
  let query = database.selectFrom('cluster_event').selectAll().where('cluster_id', '=', clusterId);
  if (filter.eventType !== null) query = query.where('event_type', '=', filter.eventType);
  if (filter.namespace !== null) query = query.where('namespace', '=', filter.namespace);
  return query;
}

async function listEvents(database: ClusterDatabase, clusterId: string, filter: EventFilter, page: PageRequest) {
  let query = selectEvents(database, clusterId, filter);
  const after = page.after?.[0];
  if (after !== undefined) query = query.where('sequence', '<', Number(after) || 0);
  const rows = await query
    .orderBy('sequence', 'desc')
    .limit(page.limit + 1)
    .execute();
  return pageOf(rows.map(toEvent), page.limit, (last) => [String(last.sequence)]);
}

function toEvent(row: ClusterTables['cluster_event']): ClusterEvent {
  return {
    sequence: row.sequence,
    eventType: row.event_type,
    namespace: row.namespace,
    resource: row.resource,
    details: JSON.parse(row.details) as Record<string, unknown>, // written by `writeReports`
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
  };
}
